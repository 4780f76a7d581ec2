#!/usr/bin/env bash
# what: --on-failure reset: the failed task is ready again for others, but this loop does not spin on it for ever
# from: "--on-failure keep|reset|retry:N"
# sure: yes (ready afterwards); that the same loop does not take it again at once: no, --max-iterations bounds it
. "$(dirname "$0")/lib.sh"
scene 2; agent_new mixed <<<'[ "$id" = T-001 ] && exit 3; complete; exit 0'; ralph "$AGENT" --on-failure reset --max-iterations 6
complete_or_fail T-002 "the loop goes to the next one"; open_or_fail T-001; offered; [ "$OFFER" = T-001 ] || fail "'$OFFER' is offered after --on-failure reset"; case $(word_of task-graph.yaml T-001) in ready | pending) ;; *) fail "the file says '$(word_of task-graph.yaml T-001)'" ;; esac
pass
