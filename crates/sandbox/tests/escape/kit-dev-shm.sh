#!/usr/bin/env bash
# class: kit
# tries: a file in the host's /dev/shm
# must: HELD
# control: bare
out=$( {
ls /dev/shm | grep -q . && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
