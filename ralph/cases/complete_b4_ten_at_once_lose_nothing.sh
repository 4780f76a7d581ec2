#!/usr/bin/env bash
# what: ten completions at the same time from one checkout: all ten stand in the store and in the file, which stays readable
# from: lessons B4 "complete/reset took no lock"; "written back under the store's lock"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 10; for i in $(seq 10); do id=$(printf 'T-%03d' "$i"); lw task claim "$id"; rc_is "claim $id" 0; done; p=()
for i in $(seq 10); do id=$(printf 'T-%03d' "$i"); timeout 25 "$LOOPWRIGHT" task complete "$id" >"$SCENE/io/c.$i" 2>&1 </dev/null & p+=($!); done
for i in "${!p[@]}"; do wait "${p[$i]}" || fail "complete $((i+1)) failed: $(head -c 300 "$SCENE/io/c.$((i+1))")"; done
for i in $(seq 10); do id=$(printf 'T-%03d' "$i"); w=$(word_of task-graph.yaml "$id"); [ "$w" = complete ] || fail "the file says '$w' of $id"; done
lw task next --json; rc_is next 1; json_says all_complete
pass
