#!/usr/bin/env bash
# what: claude reports a usage limit (structured, reset in an hour): logged as rate_limited, not as failed, not called again at once, heartbeat fresh; SIGTERM ends the wait at once, the task is free
# from: "Rate limits: 60 s doubling to 10 min, reset times honoured"; lessons B4, C2
# sure: yes (rate_limited, no failure); needs `--agent claude` to read stream-json of the claude on PATH
. "$(dirname "$0")/lib.sh"
scene 1; POISON_OK=1; agent_new claude <<'A'
r=$(( $(date +%s) + 3600 ))
printf '{"type":"system","subtype":"init","cwd":"%s","session_id":"s-1","tools":[],"model":"claude-sonnet-4-5"}\n' "$PWD"
printf '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s,"rateLimitType":"five_hour","isUsingOverage":false},"session_id":"s-1"}\n' "$r"
printf '{"type":"assistant","message":{"id":"m","model":"<synthetic>","role":"assistant","type":"message","stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"You'"'"'ve hit your 5-hour limit"}]},"session_id":"s-1","error":"rate_limit"}\n'
printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"duration_ms":10,"num_turns":1,"result":"You'"'"'ve hit your 5-hour limit","session_id":"s-1","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"terminal_reason":"api_error","api_error":"usage_limit_reached"}\n'
exit 1
A
ralph_bg claude; p=$PID; wait_for "rate_limited in the log" 20 logged "$REPO" rate_limited; sleep 5; ! logged "$REPO" failed || fail "a limit was counted as a failure"; [ "$(n_marked 'start .*')" -le 1 ] || fail "called again at once"; alive "$p" || fail "the loop ended at a limit"; offered; [ "$OFFER" = T-001 ] || fail "the claim is kept while a limit is waited out"; kill -TERM "$p"; wait_pid "$p" 8; rc_is "SIGTERM while waiting" 143; offered; [ "$OFFER" = T-001 ] || fail "the claim was not released"
pass
