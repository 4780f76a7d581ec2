#!/usr/bin/env bash
# what: --story S-002 works only on tasks of that story and ends when those are complete, though others are open
# from: "--story"
# sure: no (story of a graph, or the id of one task? both are accepted; other stories' tasks must stay)
. "$(dirname "$0")/lib.sh"
scene 3; sed -i '/id: T-002/,/status:/s/story: S-001/story: S-002/' task-graph.yaml; commit_all .; good_agent; ralph "$AGENT" --story S-002
! marked 'start T-00[13] .*' || fail "a task of another story was started"; complete_or_fail T-002; lw task next; rc_is "next: others are open" 0
good_agent; ralph "$AGENT" --story S-404; [ "$(n_marked 'start .*')" = 1 ] || fail "an unknown story started an agent"
pass
