#!/usr/bin/env bash
# what: a running ralph's task is shown as in progress, by whom (host, pid or worktree) and since when, in every worktree
# from: "in progress by whom and since when"
# sure: yes (that it is shown); names: no
. "$(dirname "$0")/lib.sh"
scene 2; WT=$(worktree_new "$REPO" b); idle_agent; ralph_bg "$AGENT"; p=$PID; wait_for "the agent" 15 test -s "$SCENE/agent.pid"
at "$WT" lw task status; rc_is status 0; both_have 'T-001' status; both_have "$p|$(hostname)|repo|ralph" "by whom"
at "$WT" lw task status --json; json_ok; json_is "[.. | objects | select(tostring | test(\"T-001\")) | to_entries[] | select(.key | test(\"owner|by|holder|worktree|pid|host\"))] | length > 0" "no owner in the JSON"; json_is '[.. | strings | select(test("^20[0-9]{2}-[0-9]{2}-[0-9]{2}T"))] | length > 0' "no time since when"
kill -TERM "$p"; wait_pid "$p" 20
pass
