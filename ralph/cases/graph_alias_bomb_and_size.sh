#!/usr/bin/env bash
# what: hostile YAML (alias bomb, 40 levels deep, 2,000 nodes) ends in time; the big honest one works
# from: bounded everything
# sure: no (bomb: error or read; must end); big: yes
. "$(dirname "$0")/lib.sh"
scene 1; { echo 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]'; for i in $(seq 12); do j=$((i-1)); echo "a$i: &a$i [*a$j,*a$j,*a$j,*a$j,*a$j,*a$j,*a$j,*a$j,*a$j,*a$j]"; done; echo 'nodes: *a12'; } >task-graph.yaml
LW_TIMEOUT=15 lw task next; refused "an alias bomb"
{ printf 'nodes: '; printf '[%.0s' $(seq 5000); } >task-graph.yaml; LW_TIMEOUT=15 lw task next; rc_is "deep nesting" 2
{ printf 'version: "1.0"\nnodes:\n'; for i in $(seq 2000); do printf '  - id: N-%04d\n    title: t\n    description: "(own:N-%04d:nwo)"\n    priority: 1\n    status: pending\n' $i $i; done; echo edges:; for i in $(seq 2 2000); do printf '  - from: N-%04d\n    to: N-%04d\n' $((i-1)) $i; done; } >task-graph.yaml
LW_TIMEOUT=15 lw task next; rc_is "2,000 nodes in a chain" 0; [ "$(token_of "$LAST_OUT")" = N-0001 ] || fail "wrong first"; LW_TIMEOUT=15 lw task graph --format dot; rc_is "its drawing" 0
pass
