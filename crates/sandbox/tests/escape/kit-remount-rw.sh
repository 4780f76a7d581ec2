#!/usr/bin/env bash
# class: kit
# tries: making the system writable
# must: HELD
# control: none
out=$( {
mount -o remount,rw,bind /usr && echo GOT; touch /usr/escape-x && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
