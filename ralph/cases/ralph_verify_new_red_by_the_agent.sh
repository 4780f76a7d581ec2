#!/usr/bin/env bash
# what: green before, the agent breaks it and says complete; then on retry mends it: complete only after the mending
# from: "--verify", "--on-failure retry:N"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; project_check . 'sh check.sh'; printf 'test -f green\n' >check.sh; : >green; commit_all .; agent_new breaks <<<'if [ ! -e "$SCENE/second" ]; then : >"$SCENE/second"; rm -f green; complete; exit 0; fi; : >green; complete; exit 0'; ralph "$AGENT" --verify --on-failure retry:2; complete_or_fail T-001; [ "$(n_marked 'start .*')" = 2 ] || fail "$(n_marked 'start .*') tries, expected 2"; [ "$(n_logged . completed)" = 1 ] || fail "completed $(n_logged . completed) times in the log"
pass
