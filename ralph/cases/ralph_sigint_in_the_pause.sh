#!/usr/bin/env bash
# what: SIGINT in a long pause between tasks ends at once with 130; what was completed stays complete
# from: "2 s pause", "--pause", "SIGINT … 130"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; good_agent; ralph_bg "$AGENT" --pause "$(secs 50)"; p=$PID; wait_for "the first task" 20 logged "$REPO" completed T-001; sleep 1; ! marked 'start T-002 .*' || fail "--pause was not kept"; kill -INT "$p"; wait_pid "$p" 8; rc_is "SIGINT in the pause" 130; complete_or_fail T-001; offered; [ "$OFFER" = T-002 ] || fail "'$OFFER' is offered"
pass
