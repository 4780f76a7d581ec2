#!/usr/bin/env bash
# class: kit
# tries: a service on the loopback of the host
# must: HELD
# control: bare
out=$( {
python3 -c "import os,socket
s=socket.create_connection((\"127.0.0.1\",int(os.environ[\"HOST_PORT\"])),4); print(\"GOT\" if b\"CANARY\" in s.recv(999) else \"\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
