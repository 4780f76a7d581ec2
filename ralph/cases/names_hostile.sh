#!/usr/bin/env bash
# what: ids that are options, paths, refs, control characters or shell: refused with 2, or harmless; nothing is written outside of repository and state, no option is obeyed, no shell runs
# from: lessons D "Names led by `-`, `..`, control characters in ids and branches"
# sure: no (refused or harmless); nothing outside: yes
. "$(dirname "$0")/lib.sh"
REPO="$SCENE/deep/er/repo"; mkdir -p "$SCENE/deep/er"; repo_new "$REPO"; cd "$REPO"; good_agent; echo keep >"$SCENE/deep/x"
for id in '-x' '--force' '../x' '../../x' '/etc/x' '.' '..' 'a..b' 'x.lock' 'HEAD' 'a~1' '@{-1}' $'new\nline' $'nul\x01\x1b[2J' '$(touch pwned)' '`touch pwned`; touch pwned' '' 'refs/heads/main'; do
  [ $SECONDS -lt 30 ] || { note "slow machine: not all names were tried"; break; }
  git checkout -q -- . ; graph_new; node "$id"; graph_write; lw task next; [ "$RC" = 0 ] || [ "$RC" = 2 ] || fail "next with id $(printf %q "$id"): $RC"
  lw task claim -- "$id"; lw task complete -- "$id"; lw task status --json; json_ok
done
for id in '../x2' '--force=2' 'a..c' '$(touch pwned)2'; do graph_new; node "$id"; graph_write; ralph_bg "$AGENT" --parallel 2 --max-iterations 1; p=$PID; until_true 3 dead "$p" || { kill -TERM "$p"; wait_pid "$p" 8; }; done
[ "$(cat "$SCENE/deep/x")" = keep ] || fail "a file outside was written"; [ "$(ls -A "$SCENE/deep" "$SCENE/deep/er" | grep -vE '^(er|x|repo|)$|:$' | wc -l)" = 0 ] || fail "something appeared beside the repository: $(ls -A "$SCENE/deep" "$SCENE/deep/er" | tr '\n' ' ')"; find "$SCENE" -name pwned | grep -q . && fail "a shell ran an id"; git fsck --no-dangling >/dev/null 2>&1 || fail "the repository is damaged"; [ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD moved"
pass
