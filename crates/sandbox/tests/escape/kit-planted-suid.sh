#!/usr/bin/env bash
# class: kit
# tries: a file that runs as another user
# must: HELD
# control: none
out=$( {
cp /usr/bin/id suid && chmod 4755 suid && chown 1234:1234 suid && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
