#!/usr/bin/env bash
# what: the agent ends with 0 and did not complete: not complete, not logged as completed, dependents stay blocked; the loop goes to the next
# from: "never because a process ended with 0", lessons B5
# sure: yes (no checks are known in this scene, so that no verify step can complete it)
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001; node T-002 pending; node T-003; edge T-001 T-002; graph_write; commit_all .
agent_new half <<<'[ "$id" = T-001 ] && { echo "All done! Task complete."; exit 0; }; complete; exit 0'; ralph "$AGENT"
open_or_fail T-001; open_or_fail T-002; complete_or_fail T-003; ! logged . completed T-001 || fail "logged as completed"; ! marked 'start T-002 .*' || fail "a dependent of an incomplete task was started"
[ "$(n_marked 'start T-001 .*')" -le 3 ] || fail "the same task again and again"; ! printf %s "$OUT$ERR" | grep -qi 'all tasks complete' || fail "says all tasks complete"
pass
