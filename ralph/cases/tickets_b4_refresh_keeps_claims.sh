#!/usr/bin/env bash
# what: a refresh resets neither claims nor completions, though the tickets still say ready
# from: lessons B4 "a refresh reset claims"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; graph_write; D=docs/active/tickets; for i in 1 2 3; do ticket $D T-00$i ready; done; commit_all .; lw task refresh; rc_is refresh 0
lw task claim T-001; rc_is claim 0; lw task complete T-001; rc_is complete 0; lw task claim T-002; rc_is "claim 2" 0; git checkout -q -- $D
ticket $D T-004 ready; lw task refresh; rc_is "refresh with a new ticket" 0; complete_or_fail T-001 "after refresh"
persona bert; WT=$(worktree_new "$REPO" b); by bert "$REPO" task claim T-002; refused "claim of a held task after refresh"
[ "$(word_of task-graph.yaml T-001)" = complete ] || fail "the refreshed graph says '$(word_of task-graph.yaml T-001)' of a completed task"; offered; lw task next; out_has T-003
pass
