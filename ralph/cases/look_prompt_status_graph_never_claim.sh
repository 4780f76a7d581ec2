#!/usr/bin/env bash
# what: prompt, status and graph leave the file, the checkout and the claims alone
# from: lessons B1 "claiming is its own verb"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2
lw task prompt T-001; rc_is "task prompt" 0; [ "$(token_of "$LAST_OUT")" = T-001 ] || fail "the prompt of T-001 lacks its description"
lw task prompt T-002; rc_is "task prompt of the second" 0
lw task status; rc_is "task status" 0
for f in text dot mermaid; do lw task graph --format $f; rc_is "task graph $f" 0; done
same_file "$SCENE/graph.before" task-graph.yaml
[ -z "$(git status --porcelain)" ] || fail "looking left something in the checkout: $(git status --porcelain)"
lw task claim T-001; rc_is "claim T-001" 0; lw task claim T-002; rc_is "claim T-002" 0
pass
