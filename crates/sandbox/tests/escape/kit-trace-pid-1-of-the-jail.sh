#!/usr/bin/env bash
# class: kit
# tries: tracing the first process of the jail
# must: HELD
# control: none
out=$( {
python3 -c "import ctypes; l=ctypes.CDLL(None); print(\"GOT\" if l.ptrace(0x4206,1,0,0)==0 else \"\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
