#!/usr/bin/env bash
# what: output is a folder: an empty one does not count; one with a file in it does
# from: "must exist and not be empty"
# sure: no (empty folder: nearly; that a folder with content counts: no)
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 ready 1 'output: out/'; graph_write; commit_all .
lw task claim T-001; mkdir out; lw task complete T-001; refused "complete with an empty folder"; open_or_fail T-001
echo x >out/a; lw task complete T-001; rc_is "complete with a folder that has a file" 0
pass
