#!/usr/bin/env bash
# what: `blocks` that names a ticket that is not there is a warning that names it; the graph is saved; `blocks` that is there makes an edge
# from: "a ticket whose `blocks` names one that is not there is a warning, not a refusal"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; graph_write; D=docs/active/tickets; ticket $D T-001 ready 'blocks: [T-002, T-404]'; ticket $D T-002 ready; commit_all .
lw task refresh; rc_is refresh 0; err_has T-404 "the warning"; grep -qE 'id: "?T-002' task-graph.yaml || fail "nothing was saved"; ! grep -q T-404 task-graph.yaml || fail "the missing one got into the graph"
lw task claim T-002; refused "claim of what T-001 blocks"
pass
