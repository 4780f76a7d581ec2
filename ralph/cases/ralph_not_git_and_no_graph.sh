#!/usr/bin/env bash
# what: ralph outside of a repository, and in one without a graph: refused, no agent, no logs, no "all complete"
# from: exit codes
# sure: no (codes 2 or 3; without a graph it might be "tried again"); not success: yes
. "$(dirname "$0")/lib.sh"
good_agent; mkdir "$SCENE/plain"; cd "$SCENE/plain"; graph_new; node T-001; graph_write ./task-graph.yaml; ralph_bg "$AGENT"; p=$PID; in_time 8 dead "$p" || fail "does not end outside of git"; wait_pid "$p" 1; rc_is "ralph outside of git" 2 3; grep -qi git "$RALPH_ERR" || fail "git is not named"; [ ! -s "$MARKS" ] || fail "an agent ran"
REPO="$SCENE/repo"; repo_new "$REPO"; cd "$REPO"; ralph_bg "$AGENT"; p=$PID; until_true 8 dead "$p" || kill -TERM "$p"; wait_pid "$p" 8; [ "$RC" != 0 ] || fail "exit 0 without a graph"; ! grep -qi 'all tasks complete' "$RALPH_OUT" "$RALPH_ERR" || fail "says all complete"; [ ! -s "$MARKS" ] || fail "an agent ran"
pass
