#!/usr/bin/env bash
# what: reset of a claimed and of a complete task makes it ready again, in the file too; release gives a claim back
# from: "`task reset ID`, `task release ID`"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2
lw task claim T-001; rc_is claim 0; lw task release T-001; rc_is release 0; offered; [ "$OFFER" = T-001 ] || fail "after release '$OFFER' is offered"
case $(word_of task-graph.yaml T-001) in ready | pending) ;; *) fail "after release the file says '$(word_of task-graph.yaml T-001)'" ;; esac
lw task claim T-001; lw task reset T-001; rc_is "reset of a claimed task" 0; offered; [ "$OFFER" = T-001 ] || fail "after reset '$OFFER' is offered"
lw task claim T-001; lw task complete T-001; rc_is complete 0; lw task reset T-001; rc_is "reset of a complete task" 0; open_or_fail T-001; offered; [ "$OFFER" = T-001 ] || fail "after the second reset '$OFFER' is offered"
case $(word_of task-graph.yaml T-001) in ready | pending) ;; *) fail "after reset the file says '$(word_of task-graph.yaml T-001)'" ;; esac
pass
