#!/usr/bin/env bash
# class: kit
# tries: entering namespaces of the first process
# must: HELD
# control: none
out=$( {
nsenter -t 1 -m true && echo GOT; nsenter -U -t 1 true && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
