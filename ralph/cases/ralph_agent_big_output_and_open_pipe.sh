#!/usr/bin/env bash
# what: hostile: an agent that prints 50 MB, and one that ends while a child keeps its stdout open: the loop neither hangs nor grows, and the child is ended
# from: lessons A13 "wait for exit, not for EOF"; I11
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; agent_new big <<<'[ "$id" = T-001 ] && { head -c 50000000 /dev/zero | tr "\0" x; head -c 5000000 /dev/zero | tr "\0" e >&2; complete; exit 0; }; sleep 300 & echo $! >"$SCENE/p.left"; complete; exit 0'; ralph_bg "$AGENT"; p=$PID; wait_pid "$p" 40; rc_is ralph 0; complete_or_fail T-001; complete_or_fail T-002; q=$(cat "$SCENE/p.left"); in_time 3 dead "$q" || fail "a child of the agent outlived its task"; [ "$(stat -c %s "$(log_of "$REPO")")" -lt 1000000 ] || fail "the output went into ralph.jsonl"
pass
