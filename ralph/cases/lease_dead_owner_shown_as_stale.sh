#!/usr/bin/env bash
# what: after kill -9 of ralph, status does not show the task as being worked on by a living one, and says who held it
# from: "in progress by whom and since when, stale ones"
# sure: no (the word: stale, dead, expired, orphan… or it is simply ready again)
. "$(dirname "$0")/lib.sh"
scene 1; idle_agent; ralph_bg "$AGENT"; first=$PID; wait_for "the agent" 15 test -s "$SCENE/agent.pid"
lw task status; rc_is status 0; both_have 'in.progress|claimed' "status while it runs"; both_have "$first|$(hostname)|repo" "status (by whom)"
kill -KILL "$first"; wait_pid "$first" 5; sleep 1
lw task status; rc_is "status afterwards" 0; both_have 'stale|dead|expired|orphan|gone|abandoned|ready' "status of a dead owner's task"
lw task status --json; json_ok
pass
