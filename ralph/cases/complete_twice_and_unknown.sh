#!/usr/bin/env bash
# what: a second complete changes nothing; an unknown id is refused; a task with open dependencies is refused
# from: "every task is completed exactly once, dependencies are never violated"
# sure: no (whether the second complete is exit 0 or a refusal; the file must stay in any case); complete of a blocked task: no
. "$(dirname "$0")/lib.sh"
scene 3 chain; lw task claim T-001; lw task complete T-001; rc_is complete 0; cp task-graph.yaml "$SCENE/once"
sleep 1.1; lw task complete T-001; same_file "$SCENE/once" task-graph.yaml "the second complete changed the file"
lw task complete T-404; refused "complete of an unknown id"; same_file "$SCENE/once" task-graph.yaml
lw task complete T-003; refused "complete of a task whose dependency is open"; open_or_fail T-003
pass
