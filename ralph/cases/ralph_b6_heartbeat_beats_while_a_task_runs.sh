#!/usr/bin/env bash
# what: the heartbeat file is ISO 8601, fresh at the start, and newer after some 33 s of one and the same task
# from: "beats also *while* a task runs, every 30 s", lessons B6
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; idle_agent; ralph_bg "$AGENT"; p=$PID; wait_for "the agent" 12 test -s "$SCENE/agent.pid"; H=$(heartbeat_of "$REPO"); wait_for "a heartbeat" 3 test -s "$H"; a=$(head -n1 "$H")
printf %s "$a" | grep -qE '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})$' || fail "not ISO 8601: '$a'"; d=$(( $(date +%s) - $(date -d "$a" +%s) )); [ "$d" -ge -2 ] && [ "$d" -le 12 ] || fail "the first beat is $d s old"
newer() { [ "$(head -n1 "$H" 2>/dev/null)" != "$a" ]; }
left=$((LIMIT - SECONDS - 8)); [ $left -gt 33 ] || { note "too little time was left on a slow machine"; left=33; }; until_true $left newer || fail "no second beat within $left s of one task"; alive "$p" || fail "ralph is gone"; kill -TERM "$p"; wait_pid "$p" 8
pass
