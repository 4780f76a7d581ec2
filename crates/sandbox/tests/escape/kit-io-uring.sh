#!/usr/bin/env bash
# class: kit
# tries: io_uring
# must: HELD
# control: bare
out=$( {
python3 -c "import ctypes; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(256); print(\"GOT\" if l.syscall(425,4,b)>=0 else \"\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
