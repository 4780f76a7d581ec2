#!/usr/bin/env bash
# what: an empty graph is never a task and never a crash: exit 1 (all_complete) or 2
# from: "exit 0 a task, 1 none …, 2 error"
# sure: no (which of both)
. "$(dirname "$0")/lib.sh"
scene 1
for g in $'version: "1.0"\nnodes: []\nedges: []\n' $'nodes:\nedges:\n' '' $'# only a comment\n' $'{}\n'; do
  printf %s "$g" >task-graph.yaml; lw task next; rc_is "next on an empty graph" 1 2; out_lacks own: stdout; lw task status; good_agent; ralph_bg "$AGENT" --max-iterations 1; p=$PID; until_true 4 dead "$p" || kill -TERM "$p"; wait_pid "$p" 6; ERR=$(cat "$RALPH_ERR"); sound "ralph on an empty graph"; [ ! -s "$MARKS" ] || fail "an agent was started"
done
pass
