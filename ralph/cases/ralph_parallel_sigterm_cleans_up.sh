#!/usr/bin/env bash
# what: SIGTERM with three agents in three worktrees: all trees ended, all claims free, 143, no worktree left locked or half
# from: "SIGINT/SIGTERM"; lessons C7
# sure: yes (trees, claims, code); worktrees removed: no
. "$(dirname "$0")/lib.sh"
scene 3; agent_new idle <<<'echo $$ >"$SCENE/p.$id"; sleep 300 & wait'; ralph_bg "$AGENT" --parallel 3; p=$PID; wait_for "three agents" 25 test -s "$SCENE/p.T-001" -a -s "$SCENE/p.T-002" -a -s "$SCENE/p.T-003"; kill -TERM "$p"; wait_pid "$p" 20; rc_is "after SIGTERM" 143
for i in 1 2 3; do q=$(cat "$SCENE/p.T-00$i"); in_time 2 dead "$q" || fail "agent $i outlived ralph"; done; persona bert; for i in 1 2 3; do by bert "$REPO" task claim T-00$i; rc_is "claim of T-00$i afterwards" 0; done; git worktree list --porcelain | grep -q '^prunable' && fail "a worktree is left prunable"
pass
