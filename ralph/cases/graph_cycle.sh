#!/usr/bin/env bash
# what: cycles (three in a ring, one on itself) beside a healthy task: no hang, no crash, none of the ring is ever offered; the ring is named
# from: issue: cycle
# sure: no (whether the whole graph is an error (2) or only the ring is blocked); never offering the ring: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001; node T-002; node T-003; node T-004; node T-005; edge T-001 T-002; edge T-002 T-003; edge T-003 T-001; edge T-004 T-004; graph_write
offered; case $OFFER in '' | T-005) ;; *) fail "$OFFER of a ring is offered" ;; esac
lw task claim T-001; refused "claim in a ring"; lw task status; both_have 'cycl|circular' "status of a graph with a ring"
good_agent; ralph_bg "$AGENT" --max-iterations 3; p=$PID; until_true 15 dead "$p" || { kill -TERM "$p"; wait_pid "$p" 10; }
! marked 'start T-00[1-4] .*' || fail "ralph worked on a ring"; ! logged "$REPO" completed T-001 || fail "completed a ring"
for f in text dot mermaid; do lw task graph --format $f; done
pass
