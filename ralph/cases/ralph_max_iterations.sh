#!/usr/bin/env bash
# what: --max-iterations 2 of 5: two agents, no more, the rest free; 
# from: lessons B6 "Limits"
# sure: yes (two agents); exit code: no
. "$(dirname "$0")/lib.sh"
scene 5; good_agent; ralph "$AGENT" --max-iterations 2; [ "$(n_marked 'start .*')" = 2 ] || fail "$(n_marked 'start .*') agents"; offered; [ "$OFFER" = T-003 ] || fail "then '$OFFER' is offered"; ! printf %s "$OUT$ERR" | grep -qi 'all tasks complete' || fail "says all complete"
pass
