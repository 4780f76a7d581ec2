#!/usr/bin/env bash
# what: the graph is broken while ralph runs (half written), and mended after 5 s: logged as error, tried again, all completed, exit 0
# from: "A malformed graph is logged and tried again, not a crash"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 3 chain; agent_new breaker <<<'complete; if [ "$id" = T-001 ]; then cp task-graph.yaml "$SCENE/good"; printf "nodes:\n  - id: T-00\n bad: [" >task-graph.yaml; : >"$SCENE/broken"; fi; exit 0'
ralph_bg "$AGENT"; p=$PID; wait_for "the broken graph" 20 test -e "$SCENE/broken"; sleep 5; alive "$p" || { wait_pid "$p" 1; fail "ralph ended ($RC) on a malformed graph"; }
logged "$REPO" error || fail "no error in the log while the graph is malformed"; ! logged "$REPO" finished || fail "logged as finished"
cp "$SCENE/good" "$SCENE/good2"; mv "$SCENE/good2" task-graph.yaml; wait_pid "$p" 30; rc_is "ralph after mending" 0
for i in 1 2 3; do complete_or_fail "T-00$i"; done; [ "$(n_marked 'start T-001 .*')" = 1 ] || fail "T-001 was done again"
pass
