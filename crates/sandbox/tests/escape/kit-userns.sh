#!/usr/bin/env bash
# class: kit
# tries: a user namespace of its own
# must: HELD
# control: bare
out=$( {
unshare -Ur true && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
