#!/usr/bin/env bash
# what: SIGINT while an agent works: exit 130 soon, the agent's whole tree is ended, the claim is free, the log says interrupted, a summary is shown
# from: "SIGINT/SIGTERM (agent tree ended, claim released, logged, 130/143)"
# sure: yes (within 20 s: no)
. "$(dirname "$0")/lib.sh"
scene 2; agent_new deep <<'A'
echo $$ >"$SCENE/p.agent"; setsid bash -c 'echo $$ >"'"$SCENE"'/p.setsid"; trap "" INT TERM; while :; do sleep 1; done' & sleep 300 & echo $! >"$SCENE/p.child"; wait
A
ralph_bg "$AGENT"; p=$PID; wait_for "the agent's tree" 15 test -s "$SCENE/p.child" -a -s "$SCENE/p.setsid"; sleep 0.5; kill -INT "$p"; wait_pid "$p" 20; rc_is "ralph after SIGINT" 130
for f in agent child setsid; do q=$(cat "$SCENE/p.$f"); in_time 2 dead "$q" || fail "the $f process outlived ralph"; done
logged "$REPO" interrupted || fail "no interrupted in the log"; ! logged "$REPO" completed || fail "completed in the log"; log_valid "$REPO"; grep -qi iteration "$RALPH_OUT" "$RALPH_ERR" || fail "no summary"
[ "$(n_marked 'start .*')" = 1 ] || fail "another task was started after the signal"; offered; [ "$OFFER" = T-001 ] || fail "the claim was not released ('$OFFER' is offered)"; case $(word_of task-graph.yaml T-001) in ready | pending) ;; *) fail "the file still says '$(word_of task-graph.yaml T-001)'" ;; esac
pass
