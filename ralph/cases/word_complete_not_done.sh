#!/usr/bin/env bash
# what: where no node shows a finished word yet, `complete` is written (not `done`), so that another reader of the graph sees the dependents as ready
# from: "A task graph's word for done is `complete`"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2 chain; lw task claim T-001; w=$(word_of task-graph.yaml T-001); case $w in in-progress | in_progress) ;; *) fail "claimed task stands as '$w' in the file" ;; esac
lw task complete T-001; [ "$(word_of task-graph.yaml T-001)" = complete ] || fail "the file says '$(word_of task-graph.yaml T-001)'"
! grep -qE 'status: *"?(done|completed|passed)' task-graph.yaml || fail "another word for done is in the file"
case $(word_of task-graph.yaml T-002) in pending | ready) ;; *) fail "T-002 became '$(word_of task-graph.yaml T-002)'" ;; esac
pass
