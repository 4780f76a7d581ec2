#!/usr/bin/env bash
# what: checks are known and red: neither exit 0 nor the agent's own `task complete` makes the task complete; dependents are not started; exit 1
# from: "the project's checks must be green before a task counts as complete; on when checks are known"
# sure: yes (how checks become known: project_check in lib.sh)
. "$(dirname "$0")/lib.sh"
scene 2 chain; project_check . 'sh check.sh'; printf 'echo checked >>"%s/checked"\ntest -f green\n' "$SCENE" >check.sh; commit_all .; good_agent; ralph "$AGENT" --verify --max-iterations 2
open_or_fail T-001 "with red checks"; ! logged . completed || fail "completed in the log"; ! marked 'start T-002 .*' || fail "the dependent was started"; [ -s "$SCENE/checked" ] || fail "the check never ran (is it known? see project_check)"; rc_is "ralph with a red check" 1
pass
