#!/usr/bin/env bash
# what: exit 0 and nothing on stdout: no agent is started with an empty prompt
# from: "exit 0 a task"
# sure: no
. "$(dirname "$0")/lib.sh"
scene 1; good_agent; ralph_bg "$AGENT" --prompt-command true --max-iterations 2; p=$PID; until_true 8 dead "$p" || kill -TERM "$p"; wait_pid "$p" 8; [ ! -s "$MARKS" ] || fail "an agent got an empty prompt"; ! logged . completed || fail "completed in the log"
pass
