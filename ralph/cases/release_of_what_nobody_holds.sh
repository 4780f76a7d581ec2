#!/usr/bin/env bash
# what: release of a free, of a complete and of an unknown task changes nothing
# from: "`task release ID`"
# sure: no (exit code); that nothing changes: yes
. "$(dirname "$0")/lib.sh"
scene 2; lw task release T-002; same_file "$SCENE/graph.before" task-graph.yaml
lw task release T-999; refused "release of an unknown task"; same_file "$SCENE/graph.before" task-graph.yaml
lw task claim T-001; lw task complete T-001; cp task-graph.yaml "$SCENE/c"; lw task release T-001; complete_or_fail T-001 "release must not undo a completion"; same_file "$SCENE/c" task-graph.yaml
lw task reset T-999; refused "reset of an unknown task"
pass
