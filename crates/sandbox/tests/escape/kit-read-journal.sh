#!/usr/bin/env bash
# class: kit
# tries: reading the journal of the state folder
# must: HELD
# control: bare
out=$( {
grep -q CANARY "$STATE_DIR/journal.db" && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
