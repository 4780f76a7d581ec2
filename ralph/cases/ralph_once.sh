#!/usr/bin/env bash
# what: --once does one task and ends; nothing stays claimed; with nothing to do it starts no agent
# from: "--once"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; good_agent; ralph "$AGENT" --once; rc_is "ralph --once" 0; [ "$(n_marked 'start .*')" = 1 ] || fail "$(n_marked 'start .*') agents"; complete_or_fail T-001; offered; [ "$OFFER" = T-002 ] || fail "'$OFFER' is offered"
ralph "$AGENT" --once; ralph "$AGENT" --once; rc_is "--once with all complete" 0; [ "$(n_marked 'start .*')" = 2 ] || fail "an agent without a task"
pass
