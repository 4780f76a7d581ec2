#!/usr/bin/env bash
# what: ralph is killed with -9 while its agent works; another ralph in another worktree takes the task over and completes it
# from: "nothing is left claimed by a dead process"
# sure: yes (within 20 s: no; the issue gives no time)
. "$(dirname "$0")/lib.sh"
scene 1; WT=$(worktree_new "$REPO" b); idle_agent; ralph_bg "$AGENT"; first=$PID
wait_for "the first agent" 15 test -s "$SCENE/agent.pid"; sleep 0.3
kill -KILL "$first"; wait_pid "$first" 5
good_agent; end=$((SECONDS + 25))
while :; do at "$WT" ralph "$AGENT" --max-iterations 2; at "$WT" is_complete T-001 && break; [ $SECONDS -lt $end ] || fail "not taken over within 25 s"; sleep 1; done
never_again_after_done
pass
