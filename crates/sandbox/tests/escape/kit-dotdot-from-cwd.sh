#!/usr/bin/env bash
# class: kit
# tries: leaving the checkout by dots from the working folder
# must: HELD
# control: bare
out=$( {
d=$(dirname "$OTHER_CHECKOUT"); for p in ../../../../../../../../../../../.. /proc/self/cwd/../../../../../../../../../../../.. /workspace/..; do grep -q CANARY "$p$OTHER_CHECKOUT/secret" && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
