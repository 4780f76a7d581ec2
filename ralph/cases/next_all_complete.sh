#!/usr/bin/env bash
# what: everything complete: exit 1, reason on stderr, no prompt on stdout, `all_complete` in --json
# from: "1 none with the reason on stderr and in --json: all_complete or all_blocked"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 complete; node T-002 complete; graph_write
lw task next; rc_is next 1; [ -n "$ERR" ] || fail "no reason on stderr"; out_lacks own: "stdout without a task"; err_has complete
lw task next --json; rc_is "next --json" 1; json_ok; json_says all_complete; ! grep -q all_blocked "$LAST_OUT" || fail "both reasons"
lw task claim; refused "claim when all is complete"
pass
