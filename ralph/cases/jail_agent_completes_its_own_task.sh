#!/usr/bin/env bash
# what: in the default jail, the agent's `loopwright task complete ID` completes the task that it holds; two tasks one after the other
# from: "works from inside a jail through a request that the keeper hands over"
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 2; jail_agent <<<'"$LW" task complete "$id" >out-$id 2>&1; mark "done $id $?"; exit 0'; ralph "$AGENT"; rc_is "ralph in a jail" 0; complete_or_fail T-001; complete_or_fail T-002; grep -qx 'done T-001 0' jail-marks || fail "inside, complete gave: $(cat jail-marks out-T-001 2>/dev/null | tr '\n' '|')"
pass
