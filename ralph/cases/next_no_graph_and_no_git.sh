#!/usr/bin/env bash
# what: no graph in a repository; no repository at all: an error (2 by the issue; 3 is accepted for the missing repository), never 0 or 1, nothing written
# from: "2 error"
# sure: yes (2 without a graph); no repository: no (a graph without git might work)
. "$(dirname "$0")/lib.sh"
REPO="$SCENE/repo"; repo_new "$REPO"; cd "$REPO"
lw task next; rc_is "next without a graph" 2; [ -n "$ERR" ] || fail "no word on stderr"; lw task next --json; rc_is "--json" 2; json_ok
lw task status; refused "status without a graph"; [ -z "$(git status --porcelain)" ] || fail "files appeared: $(git status --porcelain)"
mkdir "$SCENE/plain"; graph_new; node T-001; graph_write "$SCENE/plain/task-graph.yaml"; cd "$SCENE/plain"
lw task claim T-001; rc_is "claim outside git" 2 3; both_have git "the refusal"; [ "$(ls -A)" = task-graph.yaml ] || fail "files appeared: $(ls -A)"
pass
