#!/usr/bin/env bash
# what: a wrong flag, verb or value is exit 2 with usage on stderr, and nothing happens
# from: exit 2 bad input
# sure: yes (unknown words); numbers out of range (-1, 0): no
. "$(dirname "$0")/lib.sh"
scene 1; good_agent
for a in "task next --nonsense" "task nosuchverb" "task" "task claim T-001 --nonsense" "task graph --format svg" "task complete" "ralph --nonsense" "ralph --max-iterations many" "ralph --max-iterations -1" "ralph --on-failure explode" "ralph --on-failure retry:x" "ralph --on-failure retry:-1" "ralph --parallel 0" "ralph --task-timeout soon" "ralph --pause -3"; do
  lw $a; rc_is "loopwright $a" 2; [ -n "$ERR" ] || fail "no word on stderr: $a"
done
same_file "$SCENE/graph.before" task-graph.yaml; [ ! -e logs ] || fail "a wrong flag made logs"; offered; [ "$OFFER" = T-001 ] || fail "something was claimed"
pass
