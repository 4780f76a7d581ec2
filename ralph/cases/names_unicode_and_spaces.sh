#!/usr/bin/env bash
# what: ids with unicode, spaces, a dot, 300 letters: each works through next, claim, complete, or is refused with 2 as a whole; nothing in between
# from: lessons D "Ids are validated types"
# sure: no (accepted or refused); consistent: yes
. "$(dirname "$0")/lib.sh"
long=$(printf 'a%.0s' $(seq 300)); REPO="$SCENE/repo"; repo_new "$REPO"; cd "$REPO"
for id in 'Aufgabe-Ü1' 'two words' 'v1.2' '任务-1' "$long" "o'clock" 'a/b'; do
  graph_new; node "$id"; graph_write; lw task next; case $RC in 0) ;; 2) continue ;; *) fail "next with id '$id': $RC" ;; esac
  [ "$(token_of "$LAST_OUT")" = "$id" ] || fail "'$id' came out as '$(token_of "$LAST_OUT")'"; lw task claim -- "$id"; rc_is "claim of '$id' that next offered" 0; lw task complete -- "$id"; rc_is "complete of '$id'" 0; grep -q 'status: complete' task-graph.yaml || fail "'$id' is not complete in the file"; lw task next; rc_is "next after '$id'" 1
done
good_agent; graph_new; node 'two words 2'; node 'Ü-3'; graph_write; lw task next; if [ "$RC" = 0 ]; then ralph "$AGENT"; rc_is "ralph with odd ids" 0; log_valid .; fi
pass
