#!/usr/bin/env bash
# class: kit
# tries: a socket to the hypervisor
# must: HELD
# control: bare
out=$( {
python3 -c "import socket; socket.socket(40,1); print(\"GOT\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
