#!/usr/bin/env bash
# what: the store is the truth: `git checkout -- task-graph.yaml`, or an agent that writes `ready` back, undoes no claim and no completion
# from: "The store is the truth about state"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 3 chain
lw task claim T-001; rc_is claim 0; sleep 5; git checkout -q -- task-graph.yaml
WT=$(worktree_new "$REPO" b); persona bert
by bert "$WT" task claim T-001; refused "claim from another worktree after git checkout"
lw task complete T-001; rc_is complete 0; git checkout -q -- task-graph.yaml
offered; [ "$OFFER" = T-002 ] || fail "after git checkout '$OFFER' is offered, not T-002"
at "$WT" offered; [ "$OFFER" = T-002 ] || fail "the worktree with the old file is offered '$OFFER', not T-002"
pass
