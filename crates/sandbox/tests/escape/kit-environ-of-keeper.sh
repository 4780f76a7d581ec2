#!/usr/bin/env bash
# class: kit
# tries: the environment of every visible process
# must: HELD
# control: bare
out=$( {
for p in /proc/[0-9]*; do tr "\0" "\n" < $p/environ | grep -a KEEPER_SECRET=CANARY && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
