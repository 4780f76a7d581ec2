#!/usr/bin/env bash
# what: ralph on a graph that is malformed and stays so: never says all complete, never exit 0 as if finished, starts no agent, does not spin
# from: lessons B3; "logged and tried again"
# sure: yes (does not end as complete); does it end or go on: no
. "$(dirname "$0")/lib.sh"
scene 1; printf 'nodes: [ # all tasks complete\n' >task-graph.yaml; good_agent; ralph_bg "$AGENT"; p=$PID; sleep 7
if alive "$p"; then n=$(n_logged "$REPO" error); [ "$n" -ge 1 ] || fail "nothing in the log"; [ "$n" -le 60 ] || fail "spins: $n errors in 7 s"; kill -TERM "$p"; wait_pid "$p" 10; rc_is "after SIGTERM" 143; else wait_pid "$p" 1; [ "$RC" != 0 ] || fail "exit 0 on a malformed graph"; fi
! grep -qi 'all tasks complete' "$RALPH_OUT" "$RALPH_ERR" || fail "says all tasks complete"; ! logged "$REPO" finished || fail "logged as finished"; [ ! -s "$MARKS" ] || fail "an agent ran"
pass
