#!/usr/bin/env bash
# what: counts by status, milestone and priority, ready list, blocked and by whom; nothing twice
# from: "`task status` (counts by status, milestone and priority, ready list, blocked and by whom"
# sure: yes (that they are there); names of keys: no
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 complete 1 'milestone: M1'; node T-002 ready 1 'milestone: M1'; node T-003 pending 2 'milestones: [M2]'; node T-004 pending 3 'milestone: M2'; edge T-001 T-002; edge T-002 T-003; edge T-003 T-004; graph_write
lw task status; rc_is status 0; for w in T-002 T-003 M1 M2; do out_has $w status; done; both_have 'T-003.*T-002|T-002.*T-003' "blocked and by whom"
lw task status --json; rc_is "status --json" 0; json_ok; json_is '[.. | objects | to_entries[] | select(.key | test("milestone")) ] | length > 0' "no counts by milestone"; json_is '[.. | objects | to_entries[] | select(.key | test("priorit")) ] | length > 0' "no counts by priority"
json_is '[.. | objects | to_entries[] | select((.key == "complete" or .key == "done") and .value == 1)] | length > 0' "complete is not counted as 1"
json_is '[.. | objects | to_entries[] | select(.key | test("ready")) | .value | tostring | select(test("T-002"))] | length > 0' "T-002 is not in a ready list"; json_is '[.. | objects | to_entries[] | select(.key | test("ready")) | .value | tostring | select(test("T-003|T-004|T-001"))] | length == 0' "the ready list has too much"
pass
