#!/usr/bin/env bash
# what: hostile: from the jail the agent writes .git/config, hooks, info (attributes, exclude), also by rename, git config, a link and through a linked worktree: all bytes stay; honest: it can commit
# from: "sees the repository's `.git/config`, hooks and info read-only"
# sure: yes (commits inside: no). Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 1; mkdir -p .git/hooks .git/info; jail_agent <<'A'
g=$(git rev-parse --git-common-dir 2>/dev/null || echo .git)
echo '[core] hooksPath = /tmp/x' >>$g/config; git config core.fsmonitor "touch pwned"; git config alias.st '!touch pwned'
printf '#!/bin/sh\ntouch pwned\n' >$g/hooks/post-checkout; chmod +x $g/hooks/post-checkout; echo '* filter=x' >>$g/info/attributes; echo x >>$g/info/exclude
mv $g/config $g/config.old; cp $g/config.old $g/config; rm -rf $g/hooks; ln -s /tmp $g/hooks; mv $g/info $g/info2; echo '[core]' >$g/config.worktree; mkdir -p $g/modules/x && echo y >$g/modules/x/config
echo made >made.txt; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made; mark "commit $?"
"$LW" task complete "$id"; exit 0
A
h() { find .git/config .git/hooks .git/info .git/config.worktree 2>/dev/null | sort | while read -r f; do printf '%s ' "$f"; [ -f "$f" ] && sha256sum <"$f" || echo dir; done; }
h >"$SCENE/h0"; ralph "$AGENT" --once; h >"$SCENE/h1"; grep -q '^commit' jail-marks 2>/dev/null || fail "the agent did not run to its end"; diff "$SCENE/h0" "$SCENE/h1" >"$SCENE/io/d" || fail "git metadata was written from the jail: $(grep '^[<>]' "$SCENE/io/d" | head -n 3 | tr '\n' '|')"; [ ! -e pwned ] || fail "a planted command ran"; grep -qx 'commit 0' jail-marks || note "committing inside the jail does not work"
pass
