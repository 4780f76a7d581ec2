#!/usr/bin/env bash
# what: a person adds a task and changes a title and a comment while ralph runs: the new task is done, the edits are not lost
# from: "the YAML … say what the tasks are"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; agent_new slow <<<'[ "$id" = T-001 ] && { : >"$SCENE/at-work"; sleep 4; }; complete; exit 0'; ralph_bg "$AGENT"; p=$PID; wait_for "the agent" 15 test -e "$SCENE/at-work"
sed -i 's/title: "Work on T-001"/title: "Renamed by a person"/; 1i # a person was here' task-graph.yaml
sed -i 's/^edges: \[\]$//' task-graph.yaml; printf '  - id: T-002\n    title: New\n    description: "(own:T-002:nwo)"\n    priority: 1\n    complexity: S\n    status: ready\nedges: []\n' >>task-graph.yaml
wait_pid "$p" 30; rc_is ralph 0; marked 'start T-002 .*' || fail "the new task was not seen"; complete_or_fail T-002
has_line 'Renamed by a person' task-graph.yaml && has_line '# a person was here' task-graph.yaml || fail "the person's edits are gone"; [ "$(word_of task-graph.yaml T-001)" = complete ] || fail "T-001 is '$(word_of task-graph.yaml T-001)' in the file"
pass
