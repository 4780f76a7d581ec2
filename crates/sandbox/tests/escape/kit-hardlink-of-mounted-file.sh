#!/usr/bin/env bash
# class: kit
# tries: a hard link to a file of the system
# must: HELD
# control: none
out=$( {
ln /usr/bin/env hl && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
