#!/usr/bin/env bash
# what: 20 looks at the same time all see the same task, and it can still be claimed
# from: "looks, never claims"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 3; p=()
for i in $(seq 20); do timeout 20 "$LOOPWRIGHT" task next >"$SCENE/io/look.$i" 2>"$SCENE/io/look.$i.err" </dev/null & p+=($!); done
for i in $(seq 20); do wait "${p[$((i-1))]}"; r=$?; [ $r = 0 ] || fail "look $i ended with $r: $(head -c 300 "$SCENE/io/look.$i.err")"; t=$(token_of "$SCENE/io/look.$i"); [ "$t" = T-001 ] || fail "look $i saw '$t'"; done
same_file "$SCENE/graph.before" task-graph.yaml
lw task claim T-001; rc_is "claim afterwards" 0
pass
