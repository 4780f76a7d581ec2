#!/usr/bin/env bash
# what: an existing justfile (also Justfile, .justfile, a link, an empty one) keeps its bytes; it is said
# from: brief: "does not overwrite a justfile"
# sure: yes (not overwritten); exit code and whether missing recipes are offered: no
. "$(dirname "$0")/lib.sh"
scene 1
for f in justfile Justfile .justfile; do rm -f justfile Justfile .justfile; printf 'ralph:\n    @echo mine\n' >$f; cp $f "$SCENE/j"; lw init --just; same_file "$SCENE/j" $f "$f was overwritten"; both_have justfile "the word about it"; [ "$f" = justfile ] || [ ! -e justfile ] || fail "a second justfile beside $f (just finds two and refuses)"; done
rm -f .justfile; : >"$SCENE/elsewhere"; ln -s "$SCENE/elsewhere" justfile; lw init --just; [ ! -s "$SCENE/elsewhere" ] || fail "wrote through a link out of the repository"
pass
