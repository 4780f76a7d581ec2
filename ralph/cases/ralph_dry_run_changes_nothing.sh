#!/usr/bin/env bash
# what: --dry-run shows the task, starts no agent, claims nothing, writes neither graph nor logs nor anything else
# from: "--dry-run"
# sure: yes (no claim, no agent, graph untouched); no logs folder: no
. "$(dirname "$0")/lib.sh"
scene 2; good_agent; ralph "$AGENT" --dry-run; rc_is "dry run" 0; both_have T-001 "the dry run"; [ ! -s "$MARKS" ] || fail "an agent ran"; same_file "$SCENE/graph.before" task-graph.yaml; [ -z "$(git status --porcelain)" ] || fail "files appeared: $(git status --porcelain | tr '\n' ' ')"
persona bert; by bert "$REPO" task claim T-001; rc_is "claim after a dry run" 0
ralph "$AGENT" --dry-run --prompt-command "touch $SCENE/was-run; exit 1"; [ ! -s "$MARKS" ] || fail "an agent ran"
pass
