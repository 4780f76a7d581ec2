#!/usr/bin/env bash
# class: kit
# tries: writing the configuration of the operator's repository
# must: HELD
# control: bare
out=$( {
git config -f "$CANARY_DIR/repo/.git/config" core.fsmonitor /tmp/x && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
