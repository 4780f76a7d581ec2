#!/usr/bin/env bash
# what: lowest priority number first (2 before 10), then file order, dependencies before priority; `pending` with its dependencies done is ready too
# from: design §3 "by priority (low number first), then file order, with all depends_on passed"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; graph_new; node T-001 pending 10; node T-002 pending 2; node T-003 pending 2; node T-004 pending 0; node T-005 pending 1; edge T-001 T-004; edge T-003 T-005; graph_write; got=
for i in 1 2 3 4 5; do offered; got+="$OFFER "; [ -n "$OFFER" ] || break; lw task claim "$OFFER"; lw task complete "$OFFER"; done
[ "$got" = "T-002 T-003 T-005 T-001 T-004 " ] || fail "order is $got"
pass
