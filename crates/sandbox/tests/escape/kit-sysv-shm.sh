#!/usr/bin/env bash
# class: kit
# tries: shared memory of the host
# must: HELD
# control: bare
out=$( {
ipcs -m -i "$HOST_SHM_ID" 2>&1 | grep -q bytes && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
