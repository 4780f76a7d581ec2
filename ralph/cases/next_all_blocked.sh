#!/usr/bin/env bash
# what: one held by somebody, the rest waits for it: exit 1 and all_blocked, never all_complete
# from: same; "all blocked"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2 chain; lw task claim T-001; rc_is claim 0
lw task next; rc_is next 1; err_has block; ! printf %s "$ERR" | grep -qi 'all tasks complete' || fail "says all complete"
lw task next --json; rc_is "next --json" 1; json_ok; json_says all_blocked; ! grep -q all_complete "$LAST_OUT" || fail "both reasons"
graph_new; node T-003 blocked; graph_write; lw task next --json; rc_is "next with a task that the file calls blocked" 1; json_says all_blocked
pass
