#!/usr/bin/env bash
# what: somebody in another worktree releases the task of a living ralph: it stays held, and no second agent starts
# from: "leases with owner"
# sure: no (that a stranger's release is refused); no double work: yes
. "$(dirname "$0")/lib.sh"
scene 1; WT=$(worktree_new "$REPO" b); idle_agent 6; ralph_bg "$AGENT"; p=$PID; wait_for "the agent" 15 test -s "$SCENE/agent.pid"
at "$WT" lw task release T-001; refused "a stranger's release of a living owner's task"
at "$WT" lw task claim T-001; refused "a claim after it"
wait_pid "$p" 25; complete_or_fail T-001
pass
