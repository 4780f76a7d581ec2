#!/usr/bin/env bash
# what: a loop works on T-001; `task next`, `task claim` and a ralph do not get it
# from: "takes the same claims"
# sure: yes (needs a loop that starts with a scripted codex; if it does not start at all the case fails)
. "$(dirname "$0")/lib.sh"
scene 1; project_check . true; commit_all .; POISON_OK=1; for a in claude codex; do agent_new $a <<<'[ "$id" = none ] && exit 0; : >"$SCENE/role-at-work"; sleep 40; exit 1'; done; rm -rf "$SCENE/live"
spawn "$SCENE/io/start.out" "$SCENE/io/start.err" "$LOOPWRIGHT" start --prd task-graph.yaml --sandbox host --foreground; s=$PID; in_time 20 test -e "$SCENE/role-at-work" || fail "the loop did not begin: $(tail -c 300 "$SCENE/io/start.err")"; : >"$MARKS"
offered; [ -z "$OFFER" ] || fail "$OFFER is offered while a loop works on it"; rc_is "task next" 1; lw task claim T-001; refused "claim of a loop's task"; mkdir -p "$SCENE/live"; good_agent; ralph "$AGENT" --once; ! marked 'start T-001 .*' || fail "ralph worked on a loop's task"; kill -INT "$s" 2>/dev/null; until_true 8 dead "$s"
pass
