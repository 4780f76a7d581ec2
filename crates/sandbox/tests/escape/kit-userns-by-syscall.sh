#!/usr/bin/env bash
# class: kit
# tries: user and mount namespace by the bare system call
# must: HELD
# control: bare
out=$( {
python3 -c "import ctypes; print(\"GOT\" if ctypes.CDLL(None).unshare(0x10020000)==0 else \"\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
