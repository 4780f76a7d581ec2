#!/usr/bin/env bash
# class: kit
# tries: speaking as the shim on its line to the keeper
# must: HELD
# control: none
out=$( {
python3 -c "import socket
s=socket.socket(socket.AF_UNIX); s.connect(\"/run/lw/alive\"); s.sendall(b\"{\\\"ended\\\":{\\\"status\\\":0,\\\"n_left\\\":0,\\\"n_tasks\\\":0}}\\n\"); print(\"GOT\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
