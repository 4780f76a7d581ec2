#!/usr/bin/env bash
# what: text: no control characters reach the terminal, a newline in a title does not fake a line, a title of 20,000 letters is bearable; --json of status stays valid
# from: "task graph --format text"
# sure: yes (no control characters); cutting of long titles: no
. "$(dirname "$0")/lib.sh"
scene 1; long=$(printf 'L%.0s' $(seq 20000)); { printf 'nodes:\n'; i=0; for t in $'x\x1b]0;owned\x07\x1b[2J' $'two\nT-999 complete' "$long" $'rtl \xe2\x80\xaeevil' 'plain'; do i=$((i+1)); printf '  - id: T-%03d\n    title: %s\n    description: d\n    priority: 1\n    status: ready\n' $i "$(printf %s "$t" | jq -Rs .)"; done; } >task-graph.yaml
for c in "task graph --format text" "task graph" "task status"; do lw $c; rc_is "$c" 0; ! grep -qP '\x1b|\x07|\x08' "$LAST_OUT" "$LAST_ERR" || fail "$c lets control characters through"; ! grep -qE '^ *T-999' "$LAST_OUT" || fail "$c: a title fakes a line"; done
lw task status --json; json_ok; lw task next --json; json_ok
pass
