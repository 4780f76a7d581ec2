#!/usr/bin/env bash
# what: hostile: two tasks edit the same line at once: nothing is lost in silence, no conflict markers, no half merge; what counts as complete has its work on its branch
# from: "merged by the rules of the landing lane (part 11)"
# sure: yes (the invariants); which of both lands, and whether the other is done again: no
. "$(dirname "$0")/lib.sh"
scene 2; printf 'line one\nshared\nline three\n' >shared.txt; commit_all .; head=$(git rev-parse HEAD); agent_new clash <<<'sed -i "2s/.*/by $id/" shared.txt; for i in $(seq 30); do [ "$(ls "$SCENE/live" | wc -l)" -ge 2 ] && break; sleep 0.1; done; complete; exit 0'; ralph "$AGENT" --parallel 2 --max-iterations 6
n=0; for id in T-001 T-002; do if is_complete $id; then n=$((n+1)); git show "ralph/$id:shared.txt" >"$SCENE/io/$id" 2>/dev/null || fail "$id is complete but has no branch ralph/$id"; grep -q "$id" "$SCENE/io/$id" || fail "$id is complete but its edit is lost: $(tr '\n' '|' <"$SCENE/io/$id")"; else printf %s "$OUT$ERR" | grep -q $id || fail "$id was dropped without a word"; fi; done; [ $n -ge 1 ] || fail "neither was completed"
for b in $(git for-each-ref --format='%(refname)' refs/heads); do git grep -qE '^(<<<<<<<|>>>>>>>)' "$b" -- shared.txt && fail "conflict markers on $b"; done; [ "$(git rev-parse HEAD)" = "$head" ] && [ -z "$(git status --porcelain -- shared.txt)" ] || fail "the operator's checkout changed"
pass
