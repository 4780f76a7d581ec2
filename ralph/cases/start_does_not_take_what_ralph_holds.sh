#!/usr/bin/env bash
# what: a ralph holds T-001; `start --prd task-graph.yaml` on the same graph gives T-001 to nobody
# from: "a `ralph` and a loop on one graph never do one task twice"
# sure: yes (how far the loop gets with a scripted codex and claude: no)
. "$(dirname "$0")/lib.sh"
scene 1; project_check . true; commit_all .; POISON_OK=1; idle_agent 25; cp "$AGENT" "$SCENE/bin/holder"; ralph_bg "$SCENE/bin/holder"; p=$PID; wait_for "ralph's agent" 15 test -s "$SCENE/agent.pid"
for a in claude codex; do agent_new $a <<<'mark "role $id"; exit 1'; done
spawn "$SCENE/io/start.out" "$SCENE/io/start.err" "$LOOPWRIGHT" start --prd task-graph.yaml --sandbox host --foreground; s=$PID; until_true 12 marked 'role T-001' && fail "the loop gave T-001 to a role while ralph holds it"; alive "$s" || note "the loop ended by itself: $(tail -n1 "$SCENE/io/start.err" | cut -c1-200)"; kill -INT "$s" 2>/dev/null; until_true 8 dead "$s"; [ "$(n_marked 'start T-001 .*')" = 1 ] || fail "T-001 was started twice"; kill -TERM "$p"; wait_pid "$p" 10
pass
