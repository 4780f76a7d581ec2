#!/usr/bin/env bash
# what: honest: a chain of three with an agent that completes: order kept, exit 0, summary with numbers, log, heartbeat, words in the file
# from: "Ends: all complete (exit 0, summary)"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 3 chain; good_agent; ralph "$AGENT"; rc_is ralph 0
[ "$(awk '$1=="start"{printf "%s ", $2}' "$MARKS")" = "T-001 T-002 T-003 " ] || fail "order: $(tr '\n' ' ' <"$MARKS")"
for i in 1 2 3; do [ "$(word_of task-graph.yaml T-00$i)" = complete ] || fail "T-00$i is '$(word_of task-graph.yaml T-00$i)' in the file"; [ "$(n_logged . completed T-00$i)" = 1 ] || fail "T-00$i is not logged as completed once"; done
logged . finished || fail "no finished in the log"; both_have 'complet' summary; both_have 'iteration' summary; both_have 'fail' summary; both_have 'runtime|duration|elapsed|took' summary; both_have 'token' summary
[ -s "$(heartbeat_of .)" ] || fail "no heartbeat"; both_have 'checkout|this folder|in place|works in' "the word that it works in this checkout"
pass
