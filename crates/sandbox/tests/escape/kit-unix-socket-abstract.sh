#!/usr/bin/env bash
# class: kit
# tries: an abstract socket of the host
# must: HELD
# control: bare
out=$( {
python3 -c "import os,socket
s=socket.socket(socket.AF_UNIX); s.settimeout(4); s.connect(chr(0)+os.environ[\"HOST_ABSTRACT\"]); print(\"GOT\" if b\"CANARY\" in s.recv(99) else \"\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
