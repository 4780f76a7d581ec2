#!/usr/bin/env bash
# what: while a ralph lives, no claim, no second ralph and no release from another worktree gets its task
# from: "leases with owner, pid, host, expiry"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; WT=$(worktree_new "$REPO" b); idle_agent 12; slow=$AGENT; ralph_bg "$slow"; first=$PID
wait_for "the first agent" 15 test -s "$SCENE/agent.pid"
at "$WT" lw task claim T-001; refused "a claim beside the living owner"
good_agent; at "$WT" ralph "$AGENT"; rc_is "ralph with nothing to do" 0
[ "$(n_marked 'start T-001 .*')" = 1 ] || fail "a second agent was started on T-001"
wait_pid "$first" 30; rc_is "first ralph" 0; complete_or_fail T-001
pass
