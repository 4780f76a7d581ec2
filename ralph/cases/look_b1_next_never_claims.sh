#!/usr/bin/env bash
# what: `task next` any number of times, from two worktrees, claims nothing and writes nothing
# from: "task next (looks, never claims)", lessons B1
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; WT=$(worktree_new "$REPO" b)
for i in 1 2 3 4 5; do offered; [ "$OFFER" = T-001 ] || fail "look $i offered '$OFFER' instead of T-001"; at "$WT" offered; [ "$OFFER" = T-001 ] || fail "look $i in the worktree offered '$OFFER'"; done
same_file "$SCENE/graph.before" task-graph.yaml "looking changed the graph"
[ -z "$(git status --porcelain)" ] || fail "looking left something in the checkout: $(git status --porcelain)"
at "$WT" lw task claim T-001; rc_is "claim after ten looks" 0
pass
