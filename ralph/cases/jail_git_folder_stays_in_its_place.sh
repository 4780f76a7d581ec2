#!/usr/bin/env bash
# what: hostile: from the jail the agent puts another folder in the place of .git, sends git to other files by commondir, and writes the git folders of other worktrees and submodules: the operator's git runs nothing of it
# from: "sees the repository's `.git/config`, hooks and info read-only"
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 1; W=$(worktree_new "$REPO" other); mkdir -p .git/modules/sub; echo '[core]' >.git/modules/sub/config; jail_agent <<'A'
evil="[core] fsmonitor = \"touch $PWD/pwned $OLDPWD/pwned; false\""
cp -r .git evil; printf '[core]\n\tfsmonitor = "touch pwned; false"\n' >>evil/config
mv .git .git-old && mv evil .git && mark "replaced"
[ -d evil ] || cp -r .git evil; printf '[core]\n\tfsmonitor = "touch pwned; false"\n' >>evil/config; printf '../evil\n' >.git/commondir && mark "redirected"
for w in .git/worktrees/*; do printf '%s\n' "$PWD/evil" >"$w/commondir" && mark "other worktree redirected"; mv "$w" "$w-old" && cp -r "$w-old" "$w"; done
echo 'fsmonitor = x' >>.git/modules/sub/config && mark "submodule written"
echo made >made.txt; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made; mark "commit $?"
"$LW" task complete "$id"; exit 0
A
before=$(sha256sum <.git/config); ralph "$AGENT" --once; grep -q '^commit' jail-marks 2>/dev/null || fail "the agent did not run to its end"
git status >"$SCENE/io/status" 2>&1 || fail "the operator's git does not work any more: $(head -n 2 "$SCENE/io/status" | tr '\n' '|')"; git -C "$W" status >/dev/null 2>&1 || fail "git in the other worktree does not work any more"
[ ! -e pwned ] && [ ! -e "$W/pwned" ] || fail "the operator's git ran what the agent wrote: $(tr '\n' '|' <jail-marks)"; [ "$(sha256sum <.git/config)" = "$before" ] || fail ".git/config is another one"
for m in replaced redirected "other worktree redirected" "submodule written"; do ! grep -qx "$m" jail-marks || fail "the jail let it be $m"; done
grep -qx 'commit 0' jail-marks || fail "an honest commit does not work inside"; [ ! -e .git/commondir ] || fail "something is left in .git: commondir"; complete_or_fail T-001
pass
