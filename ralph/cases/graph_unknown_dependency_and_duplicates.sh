#!/usr/bin/env bash
# what: a dependency that is not there is never taken as done; two nodes with one id are never worked on as two
# from: issue: unknown dependency, duplicate
# sure: no (error or blocked); never offered: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 pending; edge T-404 T-001; graph_write
lw task next; rc_is "next with an unknown dependency" 1 2; both_have 'T-404' "the reason"; lw task claim T-001; refused "claim with an unknown dependency"
graph_new; node T-001 ready 1; node T-001 complete 2; node T-002 pending; edge T-001 T-002; graph_write; cp task-graph.yaml "$SCENE/d"
lw task next; [ "$RC" != 0 ] || [ "$(token_of "$LAST_OUT")" != T-002 ] || fail "T-002 is offered on the strength of one of two contradicting nodes"; both_have 'duplicate|twice|more than once|two|already' "the word about duplicates"
pass
