#!/usr/bin/env bash
# what: an agent that works longer than the lease keeps its task (the lease is renewed while it runs)
# from: "expiry and renewal"
# sure: yes (shown only if lease_env of lib.sh makes the lease short; else the case is weak, not wrong)
. "$(dirname "$0")/lib.sh"
lease_env 2; scene 1; WT=$(worktree_new "$REPO" b); idle_agent 14; ralph_bg "$AGENT"; first=$PID
wait_for "the first agent" 15 test -s "$SCENE/agent.pid"; good_agent
for i in 1 2 3; do sleep 3; at "$WT" lw task claim T-001; refused "claim $i beside a renewed lease"; at "$WT" ralph "$AGENT" --once; done
[ "$(n_marked 'start T-001 .*')" = 1 ] || fail "a second agent was started on T-001"
wait_pid "$first" 30; rc_is ralph 0; complete_or_fail T-001
pass
