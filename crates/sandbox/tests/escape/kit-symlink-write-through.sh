#!/usr/bin/env bash
# class: kit
# tries: writing through a planted link
# must: HELD
# control: bare
out=$( {
ln -sfn "$CANARY_DIR/repo/.git/config" link && echo evil >> link && echo GOT; rm -f link
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
