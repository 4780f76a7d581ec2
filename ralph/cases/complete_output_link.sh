#!/usr/bin/env bash
# what: output is a link: dangling, to itself, to a file outside, to an empty file: none of them counts
# from: "must exist and not be empty"; lessons D "Host reads of agent trees do not follow links out"
# sure: no for the link out of the repository, yes for the others
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 ready 1 'output: out.md'; graph_write; commit_all .; lw task claim T-001
ln -s nowhere out.md; lw task complete T-001; refused "a dangling link"
ln -sfn out.md out.md; lw task complete T-001; refused "a link to itself"
: >empty; ln -sfn empty out.md; lw task complete T-001; refused "a link to an empty file"
echo secret >"$SCENE/outside"; ln -sfn "$SCENE/outside" out.md; lw task complete T-001; refused "a link out of the repository"; open_or_fail T-001
rm out.md; echo y >out.md; lw task complete T-001; rc_is "a real file" 0
pass
