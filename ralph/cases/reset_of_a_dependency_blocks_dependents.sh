#!/usr/bin/env bash
# what: after the reset of a completed dependency its dependents are not ready any more
# from: "dependencies are never violated"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2 chain; lw task claim T-001; lw task complete T-001; offered; [ "$OFFER" = T-002 ] || fail "'$OFFER' offered"
lw task reset T-001; rc_is reset 0; offered; [ "$OFFER" = T-001 ] || fail "after the reset '$OFFER' is offered"
lw task claim T-002; refused "claim of a dependent whose dependency was reset"
pass
