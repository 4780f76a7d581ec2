#!/usr/bin/env bash
# what: four ralphs in four worktrees on 12 tasks with dependencies, one of them killed with -9 and one agent too: each task completed once, order kept, nothing left claimed
# from: done-when, small
# sure: yes (an agent that is killed after it has completed its task says no `done` any more, so that the order is told by `doing`)
. "$(dirname "$0")/lib.sh"
scene 12; graph_new; for i in $(seq 12); do node "$(printf 'T-%03d' $i)" pending; done; for e in "1 4" "2 4" "3 5" "4 6" "5 6" "1 7" "7 8" "6 9" "8 9" "2 10" "10 11" "9 12" "11 12"; do set -- $e; edge "$(printf 'T-%03d' $1)" "$(printf 'T-%03d' $2)"; done; graph_write; commit_all .; agent_new work <<<'sleep 0.$((RANDOM % 5 + 1)); mark "doing $id"; complete; exit 0'
W=(); P=(); for k in 1 2 3 4; do W[$k]=$(worktree_new "$REPO" $k); cd "${W[$k]}"; ralph_bg "$AGENT" --on-failure retry:5; P[$k]=$PID; done; sleep 2; kill -KILL "${P[2]}" 2>/dev/null; for f in "$SCENE"/live/*/pid; do [ -s "$f" ] && { kill -KILL "$(cat "$f")" 2>/dev/null; break; }; done
for k in 1 3 4; do in_time 25 dead "${P[$k]}" || fail "ralph $k does not end"; done; cd "${W[2]}"; end=$((SECONDS + 15)); while :; do ralph "$AGENT" --on-failure retry:5; is_complete T-012 && break; [ $SECONDS -lt $end ] || fail "not all complete: $(awk '$1=="done"&&$3==0{print $2}' "$MARKS" | sort -u | wc -l) of 12"; sleep 1; done
for i in $(seq 12); do complete_or_fail "$(printf 'T-%03d' $i)"; done; never_again_after_done
awk 'BEGIN { split("1 4 2 4 3 5 4 6 5 6 1 7 7 8 6 9 8 9 2 10 10 11 9 12 11 12", e, " "); for (i = 1; i < 26; i += 2) d[sprintf("T-%03d", e[i+1])] = d[sprintf("T-%03d", e[i+1])] " " sprintf("T-%03d", e[i]) } $1 == "start" { n = split(d[$2], q, " "); for (i = 1; i <= n; i++) if (!ok[q[i]]) { print $2 " before " q[i]; exit 1 } } $1 == "doing" { ok[$2] = 1 }' "$MARKS" >"$SCENE/io/viol" || fail "dependency violated: $(cat "$SCENE/io/viol")"
pass
