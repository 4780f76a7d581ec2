#!/usr/bin/env bash
# what: refresh with two tickets with one id: refused, named, and nothing is saved
# from: "cycle, unknown dependency, duplicate: nothing is saved"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; D=docs/active/tickets; ticket $D T-001 ready; cp $D/T-001.md $D/copy.md; ticket $D T-002 ready; commit_all .; cp task-graph.yaml "$SCENE/g0"
lw task refresh; refused "refresh with duplicate"; both_have 'T-001' "the refusal"; same_file "$SCENE/g0" task-graph.yaml "something was saved"
[ -z "$(git status --porcelain)" ] || fail "files changed: $(git status --porcelain)"; lw task refresh --json; refused "refresh --json"; json_ok
offered; [ "$OFFER" = T-001 ] || fail "the old graph does not work any more ('$OFFER')"
pass
