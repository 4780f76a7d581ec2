#!/usr/bin/env bash
# what: a person completes the task that a living ralph holds: accepted or refused, but the task is completed once and ralph goes on well
# from: "every task is completed exactly once"
# sure: no (who may complete is not said); exactly once: yes
. "$(dirname "$0")/lib.sh"
scene 2; agent_new slow <<<'echo $$ >"$SCENE/agent.pid"; [ "$id" = T-001 ] && sleep 4; complete; exit 0'; ralph_bg "$AGENT"; p=$PID
wait_for "the agent" 15 test -s "$SCENE/agent.pid"; lw task complete T-001; note "a person's complete gave exit $RC"
wait_pid "$p" 30; rc_is "ralph" 0; complete_or_fail T-001; complete_or_fail T-002
[ "$(n_marked 'start T-001 .*')" = 1 ] || fail "T-001 was started again"; n=$(n_logged "$REPO" completed T-001); [ "$n" -le 1 ] || fail "T-001 logged as completed $n times"
pass
