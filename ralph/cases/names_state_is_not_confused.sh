#!/usr/bin/env bash
# what: ids that differ only in case, in a shared prefix of 200 letters or in normal form are different tasks
# from: lessons A26 "Ids cut to a shared prefix collided"
# sure: yes (if the graph is taken at all)
. "$(dirname "$0")/lib.sh"
scene 1; pre=$(printf 'p%.0s' $(seq 200)); graph_new; node T-a; node T-A; node "${pre}1"; node "${pre}2"; node T-1; node T-10; graph_write; lw task next; [ "$RC" = 0 ] || { rc_is "next" 2; note "such ids are refused as a whole"; pass; }
for id in T-a "${pre}1" T-1; do lw task claim "$id"; rc_is "claim $id" 0; lw task complete "$id"; rc_is "complete $id" 0; done; for id in T-A "${pre}2" T-10; do open_or_fail "$id"; lw task claim "$id"; rc_is "claim of $id after its near namesake" 0; done
pass
