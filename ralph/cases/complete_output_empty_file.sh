#!/usr/bin/env bash
# what: an empty output refuses; one byte is enough
# from: "must exist and not be empty"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 ready 1 'output: "docs/out file.md"'; graph_write; commit_all .
lw task claim T-001; mkdir docs; : >"docs/out file.md"
lw task complete T-001; refused "complete with an empty output"; open_or_fail T-001
printf x >"docs/out file.md"; lw task complete T-001; rc_is "complete with an output" 0; complete_or_fail T-001
pass
