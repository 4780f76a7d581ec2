#!/usr/bin/env bash
# what: a graph that says done / in_progress / queued, one with capitals and quotes, tickets, a JSON PRD and boxes keep their own words through claim, complete and reset
# from: "in the file's own words"
# sure: yes (done, in_progress, reset to the word that stood there: no)
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 done; node T-002 in_progress; node T-003 queued; node T-004 queued; graph_write; cp task-graph.yaml "$SCENE/g0"
lw task claim T-003; rc_is "claim a queued one" 0; w=$(word_of task-graph.yaml T-003); [ "$w" = in_progress ] || fail "claimed: '$w', the file's word is in_progress"
lw task complete T-003; w=$(word_of task-graph.yaml T-003); [ "$w" = done ] || fail "completed: '$w', the file's word is done"
lw task reset T-003; same_file "$SCENE/g0" task-graph.yaml "after the reset the graph"
graph_new; node T-011 Complete; node T-012 '"Ready"'; graph_write; lw task claim T-012; lw task complete T-012; rc_is "complete in a file with capitals" 0; w=$(word_of task-graph.yaml T-012); [ "$w" = Complete ] || fail "'$w' written beside 'Complete'"
D=docs/tickets; ticket $D K-1 ready; ticket $D K-2 shipped; cp -r $D "$SCENE/t0"; first() { sed -n 's/^status: //p' $D/K-1.md | head -n 1; }
lw task claim K-1 $GRAPH_FLAG $D; rc_is "claim of a ticket" 0; [ "$(first)" = in_progress ] || fail "the claimed ticket says '$(first)'"
lw task release K-1 $GRAPH_FLAG $D; rc_is "release of a ticket" 0; same_file "$SCENE/t0/K-1.md" $D/K-1.md "after the release the ticket"
lw task complete K-1 $GRAPH_FLAG $D; rc_is "complete of a ticket" 0; [ "$(first)" = shipped ] || fail "the finished ticket says '$(first)', the folder's word is shipped"
printf '{"stories":[{"id":"U-1","title":"A","passes":false},{"id":"U-2","title":"B","passes":false,"status":"not-started"}]}\n' >prd.json; cp prd.json "$SCENE/p0"
lw task claim U-1 $GRAPH_FLAG prd.json; rc_is "claim of a story with a flag" 0; same_file "$SCENE/p0" prd.json "a flag has no word for work in progress, and prd.json"
lw task claim U-2 $GRAPH_FLAG prd.json; rc_is "claim of a story with a status" 0; jq -e '.stories[1].status == "in-progress"' prd.json >/dev/null || fail "the status is $(jq -c '.stories[1].status' prd.json)"
lw task reset U-2 $GRAPH_FLAG prd.json; rc_is reset 0; same_file "$SCENE/p0" prd.json "after the reset prd.json"
printf '# Plan\n\n- [ ] T001 first\n- [X] T002 second\n' >boxes.md; cp boxes.md "$SCENE/b0"; lw task claim T001 $GRAPH_FLAG boxes.md; rc_is "claim of a box" 0; same_file "$SCENE/b0" boxes.md "a box has no mark for work in progress, and the plan"
lw task complete T001 $GRAPH_FLAG boxes.md; grep -qx -- '- \[X\] T001 first' boxes.md || fail "the box is not ticked as the file ticks: $(grep T001 boxes.md)"; lw task reset T001 $GRAPH_FLAG boxes.md; same_file "$SCENE/b0" boxes.md "after the reset the plan"
pass
