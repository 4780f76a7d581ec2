#!/usr/bin/env bash
# what: somebody resets the task of a living ralph and starts another ralph: at no time two agents, completed once
# from: "every task is completed exactly once"
# sure: yes (the invariant); whether reset is refused: no
. "$(dirname "$0")/lib.sh"
scene 1; WT=$(worktree_new "$REPO" b); idle_agent 6; ralph_bg "$AGENT"; p=$PID; wait_for "the agent" 15 test -s "$SCENE/agent.pid"
at "$WT" lw task reset T-001; note "reset of a running task: exit $RC"; good_agent; at "$WT" ralph "$AGENT" --max-iterations 2
wait_pid "$p" 25; complete_or_fail T-001; n=$(( $(n_logged "$REPO" completed T-001) + $(n_logged "$WT" completed T-001) )); [ "$n" = 1 ] || fail "logged as completed $n times"
pass
