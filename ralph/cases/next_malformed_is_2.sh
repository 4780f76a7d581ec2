#!/usr/bin/env bash
# what: broken YAML: exit 2, place named on stderr, one JSON object with ok=false; for every verb; the file stays
# from: "2 error"
# sure: yes (task next); the other verbs: any refusal
. "$(dirname "$0")/lib.sh"
scene 1
for bad in $'nodes:\n  - id: T-001\n   status: [' $'nodes: "complete complete all tasks complete"\nedges: }' $'\tnodes:\n' $'nodes:\n  - id: *nope\n' $'\xff\xfe\x00bad'; do
  printf %s "$bad" >task-graph.yaml; cp task-graph.yaml "$SCENE/bad"
  lw task next; rc_is "next on broken YAML" 2; [ -n "$ERR" ] || fail "no word on stderr"; out_lacks own: stdout
  lw task next --json; rc_is "next --json on broken YAML" 2; json_ok; json_is '.ok == false' "ok is not false"; ! grep -q '"all_complete"' "$LAST_OUT" || fail "an error was called all_complete"
  for v in "claim T-001" "complete T-001" "reset T-001" "status" "graph --format text"; do lw task $v; refused "task $v on broken YAML"; done
  same_file "$SCENE/bad" task-graph.yaml "the broken file was written to"
done
pass
