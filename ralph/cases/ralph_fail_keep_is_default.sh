#!/usr/bin/env bash
# what: a failing agent leaves its task in progress for a person; the loop goes on; at the end all blocked and exit 1
# from: "default keep", "exit 1 if any task failed on the way"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001; node T-002; node T-003 pending; edge T-001 T-003; graph_write; commit_all .
agent_new mixed <<<'[ "$id" = T-001 ] && exit 3; complete; exit 0'; ralph "$AGENT"; rc_is "ralph after a failure" 1
[ "$(n_marked 'start T-001 .*')" = 1 ] || fail "T-001 was tried $(n_marked 'start T-001 .*') times"; complete_or_fail T-002; [ "$(n_logged . failed T-001)" = 1 ] || fail "T-001 is not logged as failed once"
jq -es 'map(select(.action == "failed" and .task_id == "T-001")) | .[0].exit_code == 3' "$(log_of .)" >/dev/null || fail "the log lacks the agent's exit code 3"
logged . blocked || fail "no blocked at the end"; state_of T-001; case $STATE in *progress* | *fail* | *attention* | stale | claimed) ;; *) fail "T-001 is '$STATE', not left in progress" ;; esac
lw task claim T-003; refused "claim of its dependent"
lw task reset T-001; rc_is "a person's reset" 0; offered; [ "$OFFER" = T-001 ] || fail "after reset '$OFFER' is offered"
pass
