#!/usr/bin/env bash
# what: hostile: the agent edits the YAML to `complete` instead of asking; the store did not say so
# from: "A task is complete when the store says so"
# sure: no (a person's own edit of the file might be meant to count; an agent's must not)
. "$(dirname "$0")/lib.sh"
scene 2 chain; agent_new liar <<<'sed -i "s/status: .*/status: complete/" task-graph.yaml; exit 0'
ralph "$AGENT" --max-iterations 3
! logged "$REPO" completed || fail "logged as completed because the agent wrote the word into the file"
[ "$RC" != 0 ] || ! printf %s "$OUT$ERR" | grep -qi 'all tasks complete\|all_complete' || fail "ended as all complete"
pass
