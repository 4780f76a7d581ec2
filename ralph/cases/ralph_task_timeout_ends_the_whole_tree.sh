#!/usr/bin/env bash
# what: --task-timeout ends agent, children, setsid children and double-forked ones that ignore TERM; the task is failed, the loop goes on
# from: "--task-timeout"; I11
# sure: yes (unit seconds: no, see secs() in lib.sh)
. "$(dirname "$0")/lib.sh"
scene 2; agent_new sticky <<'A'
[ "$id" = T-002 ] && { complete; exit 0; }
echo $$ >"$SCENE/p.agent"; trap '' TERM INT HUP
sleep 300 & echo $! >"$SCENE/p.child"
setsid bash -c 'trap "" TERM INT HUP; echo $$ >"'"$SCENE"'/p.setsid"; while :; do sleep 1; done' &
( setsid nohup bash -c 'trap "" TERM; echo $$ >"'"$SCENE"'/p.daemon"; while :; do sleep 1; done' >/dev/null 2>&1 </dev/null & )
while :; do sleep 1; done
A
ralph_bg "$AGENT" --task-timeout "$(secs 3)"; p=$PID; wait_for "the tree" 15 test -s "$SCENE/p.daemon"; wait_pid "$p" 40
for f in agent child setsid daemon; do q=$(cat "$SCENE/p.$f"); dead "$q" || fail "the $f process ($q) outlived its task"; done
complete_or_fail T-002 "the loop goes on after a timeout"; open_or_fail T-001; logged "$REPO" failed T-001 || fail "the timeout is not logged as failed"; rc_is "ralph after a timeout" 1
pass
