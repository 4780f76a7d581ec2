#!/usr/bin/env bash
# class: kit
# tries: raising its own limits
# must: HELD
# control: none
out=$( {
a=$(ulimit -Hn); ulimit -n 100000 && echo GOT; ulimit -u unlimited && echo GOT; ulimit -c unlimited && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
