#!/usr/bin/env bash
# what: a declared output that is not there refuses completion; state and file stay; --force goes through
# from: "task complete ID [--force] (declared `output` must exist and not be empty"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 ready 1 'output: docs/out.md'; graph_write; commit_all .
lw task claim T-001; rc_is claim 0; cp task-graph.yaml "$SCENE/held"
lw task complete T-001; refused "complete without its output"; both_have 'docs/out.md' "the refusal"; same_file "$SCENE/held" task-graph.yaml; open_or_fail T-001
lw task complete T-001 --force; rc_is "complete --force" 0; complete_or_fail T-001; [ ! -e docs/out.md ] || fail "--force made the output"
pass
