#!/usr/bin/env bash
# what: the owner is stopped (SIGSTOP) past its lease; whoever takes the task, it is completed once, and the woken owner breaks nothing
# from: "expiry", "every task is completed exactly once"
# sure: yes (exactly once); whether a stopped but living owner loses its task within 8 s: no, both are accepted
. "$(dirname "$0")/lib.sh"
lease_env 2; scene 2; WT=$(worktree_new "$REPO" b)
agent_new slow <<<'echo $$ >"$SCENE/agent.pid"; [ "$id" = T-001 ] && sleep 3; complete; exit 0'; ralph_bg "$AGENT" --once; first=$PID
wait_for "the first agent" 15 test -s "$SCENE/agent.pid"; a=$(cat "$SCENE/agent.pid"); kill -STOP "$first" "$a"; rm -rf "$SCENE/live"/x*
sleep 8; good_agent; at "$WT" ralph "$AGENT" --max-iterations 3
kill -CONT "$a" "$first" 2>/dev/null; wait_pid "$first" 25
n=$(( $(n_logged "$REPO" completed T-001) + $(n_logged "$WT" completed T-001) )); [ "$n" -le 1 ] || fail "T-001 is logged as completed $n times"
good_agent; ralph "$AGENT" --max-iterations 3; complete_or_fail T-001; complete_or_fail T-002
pass
