#!/usr/bin/env bash
# what: a task kept for a person after a failure is not picked up by a second ralph that starts later
# from: "leaves the task in progress for a person"
# sure: no (against it: "nothing is left claimed by a dead process"; kept is not claimed by the dead ralph)
. "$(dirname "$0")/lib.sh"
scene 1; agent_new bad <<<'exit 3'; ralph "$AGENT"; rc_is "first ralph" 1; good_agent; ralph "$AGENT"; [ "$(n_marked 'start T-001 .*')" = 1 ] || fail "the second ralph took what was kept for a person"; open_or_fail T-001
pass
