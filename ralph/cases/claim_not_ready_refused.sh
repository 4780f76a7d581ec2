#!/usr/bin/env bash
# what: a task with an open dependency, a complete one and an unknown one cannot be claimed; nothing is written
# from: "dependencies are never violated"
# sure: yes (that it is refused; the exit code: no)
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 complete; node T-002 pending; node T-003 pending; edge T-001 T-002; edge T-002 T-003; graph_write; cp task-graph.yaml "$SCENE/graph.before"
lw task claim T-003; refused "claim of a blocked task"; both_have T-002 "the refusal (blocked by whom)"
lw task claim T-001; refused "claim of a complete task"
lw task claim T-777; refused "claim of an unknown task"; both_have T-777 "the refusal"
same_file "$SCENE/graph.before" task-graph.yaml
lw task claim T-002; rc_is "claim of the ready one" 0
pass
