#!/usr/bin/env bash
# what: hostile: the agent removes its own node, then the whole file: no crash, nothing false is logged, the rest goes on when the file is back
# from: "logged and tried again, not a crash"
# sure: no (what becomes of the removed task); no crash: yes
. "$(dirname "$0")/lib.sh"
scene 2; graph_new; node T-002; graph_text >"$SCENE/without"; agent_new eraser <<<'if [ "$id" = T-001 ]; then cp "$SCENE/without" task-graph.yaml; exit 0; fi; if [ ! -e "$SCENE/once" ]; then : >"$SCENE/once"; rm task-graph.yaml; exit 1; fi; complete; exit 0'
ralph_bg "$AGENT" --on-failure retry:3; p=$PID; wait_for "the vanished file" 20 test -e "$SCENE/once"; sleep 3; cp "$SCENE/without" "$SCENE/w2"; mv "$SCENE/w2" "$REPO/task-graph.yaml"
until_true 20 dead "$p" || { kill -TERM "$p"; wait_pid "$p" 10; }; wait "$p" 2>/dev/null; RC=$?; ERR=$(cat "$RALPH_ERR"); OUT=$(cat "$RALPH_OUT"); sound ralph; ! logged "$REPO" completed T-001 || fail "T-001 was never completed but is logged so"
log_valid "$REPO"
pass
