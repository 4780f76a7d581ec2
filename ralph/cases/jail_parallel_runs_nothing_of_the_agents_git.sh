#!/usr/bin/env bash
# what: hostile: with --parallel and --verify a jailed agent plants filters, fsmonitor, hooks and a text conversion in the git folder of its own checkout, changes files and ends: nothing of it runs outside, and the work counts only by the checks
# from: "each has its own worktree", design I9 "host git never runs on metadata an agent could write"
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 2; project_check . 'test -f made.txt'; jail_agent <<A
trap='touch $SCENE/pwned; cat'
git config filter.x.clean "\$trap"; git config filter.x.smudge "\$trap"; git config core.fsmonitor "\$trap"; git config diff.x.textconv "\$trap"; git config core.hooksPath hooks; mkdir -p hooks
for h in post-checkout pre-commit post-index-change reference-transaction; do printf '#!/bin/sh\ntouch $SCENE/pwned\n' >hooks/\$h; chmod +x hooks/\$h; done
printf '* filter=x diff=x\n' >.gitattributes; cp .gitattributes .git/info/attributes; echo made >made.txt; echo more >>README.md; exit 0
A
ralph "$AGENT" --parallel 2 --verify --max-iterations 2; [ ! -e "$SCENE/pwned" ] || fail "something of the agent's git ran outside"
n=0; for i in 1 2; do is_complete T-00$i && n=$((n+1)); done; [ $n -ge 1 ] || fail "work with green checks does not count"; git show ralph/T-001:made.txt >/dev/null 2>&1 || git show ralph/T-002:made.txt >/dev/null 2>&1 || fail "the work is on no branch"
[ ! -e "$SCENE/pwned" ] || fail "something of the agent's git ran outside"
pass
