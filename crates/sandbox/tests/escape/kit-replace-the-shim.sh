#!/usr/bin/env bash
# class: kit
# tries: changing what runs first in the next jail
# must: HELD
# control: none
out=$( {
echo > /run/lw/shim && echo GOT; chmod 777 /run/lw/shim && echo GOT; mv /run/lw/shim /tmp/ && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
