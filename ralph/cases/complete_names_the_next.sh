#!/usr/bin/env bash
# what: completing prints which task is next; completing the last one says that all is complete; no claim is made on the way
# from: "names the next"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2 chain
lw task claim T-001; lw task complete T-001; rc_is complete 0; both_have T-002 "complete (names the next)"
offered; [ "$OFFER" = T-002 ] || fail "T-002 is not offered after T-001 (naming the next must not claim it)"
lw task claim T-002; lw task complete T-002 --json; rc_is "complete the last" 0; json_ok; lw task next; rc_is "next after the last" 1
pass
