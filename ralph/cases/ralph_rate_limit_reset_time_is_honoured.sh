#!/usr/bin/env bash
# what: the limit resets in 5 s: the loop goes on by itself soon after, and the limit used up no retry and no failure
# from: "reset times honoured"; I5
# sure: no (a floor of 60 s would be against the words, but may be)
. "$(dirname "$0")/lib.sh"
scene 1; POISON_OK=1; agent_new claude <<'A'
if [ ! -e "$SCENE/limited" ]; then : >"$SCENE/limited"; r=$(( $(date +%s) + 5 ))
printf '{"type":"system","subtype":"init","cwd":"%s","session_id":"s-1","tools":[],"model":"claude-sonnet-4-5"}\n{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s,"rateLimitType":"five_hour"},"session_id":"s-1"}\n{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"duration_ms":10,"num_turns":1,"result":"You have hit your 5-hour limit","session_id":"s-1","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"terminal_reason":"api_error","api_error":"usage_limit_reached"}\n' "$PWD" "$r"; exit 1; fi
complete; printf '{"type":"system","subtype":"init","cwd":"%s","session_id":"s-2","tools":[],"model":"claude-sonnet-4-5"}\n{"type":"result","subtype":"success","is_error":false,"duration_ms":10,"num_turns":1,"result":"done","session_id":"s-2","total_cost_usd":0.01,"usage":{"input_tokens":100,"output_tokens":7},"terminal_reason":"completed"}\n' "$PWD"; exit 0
A
ralph_bg claude; p=$PID; wait_pid "$p" 45; rc_is ralph 0; complete_or_fail T-001; logged "$REPO" rate_limited || fail "no rate_limited in the log"; ! logged "$REPO" failed || fail "a failure in the log"; jq -es 'map(select(.action == "completed") | .tokens | tostring) | any(test("107|100|7"))' "$(log_of "$REPO")" >/dev/null || fail "no tokens of the agent in the log"
pass
