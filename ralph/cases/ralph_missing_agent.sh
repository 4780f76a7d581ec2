#!/usr/bin/env bash
# what: the agent program does not exist (or is not executable, or a folder): said at once with its name, exit not 0; tasks are not burnt one after the other, nothing stays claimed
# from: I5 "missing program … none of them uses up an attempt"
# sure: no (exit code: 3 by design, anything but 0 accepted); not burning the graph: yes
. "$(dirname "$0")/lib.sh"
scene 3; printf 'echo hi\n' >"$SCENE/noexec"; mkdir "$SCENE/folder"
for a in /no/such/agent "$SCENE/noexec" "$SCENE/folder"; do
  rm -rf logs; ralph_bg "$a" --max-iterations 5; p=$PID; in_time 8 dead "$p" || fail "ralph does not end with agent '$a'"; wait_pid "$p" 1; [ "$RC" != 0 ] || fail "exit 0 with agent '$a'"; grep -qF "$(basename "$a")" "$RALPH_ERR" "$RALPH_OUT" || fail "the missing program is not named"
  offered; [ "$OFFER" = T-001 ] || fail "agent '$a': '$OFFER' is offered, T-001 was burnt"; [ "$(n_logged . failed)" -le 1 ] || fail "$(n_logged . failed) tasks were burnt"
done
pass
