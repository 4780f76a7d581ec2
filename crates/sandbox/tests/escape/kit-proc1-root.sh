#!/usr/bin/env bash
# class: kit
# tries: the root folder of other processes
# must: HELD
# control: bare
out=$( {
for p in /proc/[0-9]*; do grep -q CANARY "$p/root$CANARY_SECRET_FILE" && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
