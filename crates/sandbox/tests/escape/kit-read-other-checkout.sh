#!/usr/bin/env bash
# class: kit
# tries: reading another story's checkout
# must: HELD
# control: bare
out=$( {
grep -q CANARY "$OTHER_CHECKOUT/secret" && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
