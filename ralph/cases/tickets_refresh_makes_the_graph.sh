#!/usr/bin/env bash
# what: refresh makes nodes and edges from docs/active/tickets, keeps stories and milestones, and again gives the same bytes
# from: "`task refresh` (graph from tickets"
# sure: yes (the folder: no, it is the published one); idempotent: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; graph_write; D=docs/active/tickets; ticket $D T-001 ready 'output: out.md'; ticket $D T-002 pending 'depends_on: [T-001]'; ticket $D T-003 pending 'depends_on:' '  - T-001' '  - T-002'; echo "no front matter" >$D/README.md; commit_all .
lw task refresh; rc_is refresh 0; for i in 1 2 3; do grep -qE "id: \"?T-00$i" task-graph.yaml || fail "T-00$i is not in the graph"; done; grep -q 'out.md' task-graph.yaml || fail "output was lost"; grep -q 'id: M2' task-graph.yaml || fail "milestones were lost"
offered; lw task next; rc_is next 0; out_has T-001; lw task claim T-003; refused "claim before its dependencies"; lw task claim T-002; refused "claim of T-002 before T-001"
cp task-graph.yaml "$SCENE/r1"; lw task refresh; rc_is "second refresh" 0; diff <(grep -v last_updated "$SCENE/r1") <(grep -v last_updated task-graph.yaml) >/dev/null || fail "a second refresh changes the file"
pass
