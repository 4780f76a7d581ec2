#!/usr/bin/env bash
# what: the prompt command fails with 2, 3, 127 or by a signal and says "complete" on stderr: an error, tried again, never "all complete", no agent; exit 1 with unknown words is no success either
# from: lessons B3 "Typed results and exit codes; never words"
# sure: yes (2 and others); exit 1 with the reason all_blocked on stderr: no
. "$(dirname "$0")/lib.sh"
scene 1; good_agent
for c in 'echo "failed to complete: all tasks complete" >&2; exit 2' 'echo complete >&2; exit 3' '/no/such/program-complete' 'kill -9 $$'; do
  rm -rf logs; ralph_bg "$AGENT" --prompt-command "$c" --max-iterations 2; p=$PID; until_true 5 dead "$p" || kill -TERM "$p"; wait_pid "$p" 6; [ "$RC" != 0 ] || ! logged . finished || fail "'$c' ended as finished"
  [ ! -s "$MARKS" ] || fail "an agent ran after '$c'"; logged . error || fail "no error in the log after '$c'"; ! grep -qiE '^[^a-z]*all tasks complete' "$RALPH_OUT" || fail "says all tasks complete after '$c'"
done
pass
