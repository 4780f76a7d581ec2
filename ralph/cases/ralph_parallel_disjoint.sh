#!/usr/bin/env bash
# what: --parallel 3 with four tasks: each agent in its own worktree (not the operator's checkout), really at once, work on branch ralph/ID, operator's branch and files untouched
# from: "--parallel N (each in its own worktree)", "merged … into `ralph/ID`"
# sure: yes (branch names: yes; whether the base is also merged elsewhere: no)
. "$(dirname "$0")/lib.sh"
scene 4; head=$(git rev-parse HEAD); agent_new par <<<'mark "cwd $(pwd -P)"; for i in $(seq 40); do [ "$(ls "$SCENE/live" | wc -l)" -ge 2 ] && { mark together; break; }; sleep 0.1; done; echo "$id" >"made-$id.txt"; complete; exit 0'; ralph "$AGENT" --parallel 3; rc_is "ralph --parallel" 0
for i in 1 2 3 4; do complete_or_fail T-00$i; git rev-parse -q --verify "ralph/T-00$i^{commit}" >/dev/null || fail "no branch ralph/T-00$i: $(git branch -a | tr '\n' ' ')"; [ "$(git show "ralph/T-00$i:made-T-00$i.txt" 2>/dev/null)" = "T-00$i" ] || fail "ralph/T-00$i lacks the work"; ! git diff --name-only "$head" "ralph/T-00$i" | grep -E '^logs/|^\.loopwright' || fail "logs or state were committed"; done
marked "cwd $REPO" && fail "an agent worked in the operator's checkout"; [ "$(grep '^cwd ' "$MARKS" | sort -u | wc -l)" -ge 2 ] || fail "all in one folder"; marked together || fail "never two at once"
[ "$(git rev-parse HEAD)" = "$head" ] || fail "the operator's branch moved"; ls made-* >/dev/null 2>&1 && fail "work lies in the operator's checkout"; [ ! -e .git/MERGE_HEAD ] || fail "a merge is open"
pass
