#!/usr/bin/env bash
# what: every line of logs/ralph.jsonl is one JSON object with the nine fields, known actions, sane times; titles and outputs with newlines and quotes break no line; a second ralph appends
# from: "`logs/ralph.jsonl` (timestamp, iteration, task_id, action …, duration_seconds, exit_code, outcome, agent, tokens)"
# sure: yes (keys present where there is a value: a key may be null)
. "$(dirname "$0")/lib.sh"
scene 3; agent_new noisy <<<'printf "line\n\"quote\" \033[31m \xff\xfe\n%.0s" 1 2 3; [ "$id" = T-002 ] && { printf "boom \"x\"\nsecond" >&2; exit 7; }; sleep 1; complete; exit 0'; ralph "$AGENT"; log_valid .; L=$(log_of .)
jq -es 'all(has("timestamp") and has("iteration") and has("action"))' "$L" >/dev/null || fail "a line lacks timestamp, iteration or action"
jq -es 'all(.action as $a | ["started","completed","failed","rate_limited","blocked","interrupted","finished","error"] | index($a) != null)' "$L" >/dev/null || fail "an unknown action: $(jq -r .action "$L" | sort -u | tr '\n' ' ')"
jq -es 'map(select(.action == "completed")) | length == 2 and all(has("task_id") and has("duration_seconds") and has("exit_code") and has("outcome") and has("agent") and has("tokens") and .exit_code == 0 and (.duration_seconds | type == "number") and .duration_seconds >= 0.9 and .duration_seconds < 30)' "$L" >/dev/null || fail "completed lines lack a field or a sane value: $(jq -c 'select(.action == "completed")' "$L" | head -n 1)"
jq -es 'map(select(.action == "failed")) | length == 1 and .[0].exit_code == 7 and .[0].task_id == "T-002"' "$L" >/dev/null || fail "failed line: $(jq -c 'select(.action == "failed")' "$L" | head -n 1)"
jq -es 'map(select(.action == "started")) | length == 3 and (map(.task_id) | sort == ["T-001","T-002","T-003"])' "$L" >/dev/null || fail "started lines"; jq -es 'map(.timestamp) | . == sort and all(test("^20[0-9]{2}-[0-9]{2}-[0-9]{2}T"))' "$L" >/dev/null || fail "timestamps"; jq -es 'map(select(.task_id != null) | .iteration) | all(type == "number" and . >= 1)' "$L" >/dev/null || fail "iteration"
n=$(wc -l <"$L"); ralph "$AGENT"; [ "$(wc -l <"$L")" -ge "$n" ] || fail "the log was cut by the second ralph"; [ "$(head -n1 "$L" | jq -r .action)" = started ] || note "first action: $(head -n1 "$L" | jq -r .action)"
pass
