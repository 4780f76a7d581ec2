#!/usr/bin/env bash
# what: hostile: a ralph in a linked worktree: from the jail the agent replaces the worktree's own git folder, its .git file, and the commondir of the main repository: the operator's git runs nothing of it; honest: it can commit
# from: "sees the repository's `.git/config`, hooks and info read-only"
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 1; jail_agent <<'A'
own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
cp -r "$common" evil; printf '[core]\n\tfsmonitor = "touch pwned; false"\n' >>evil/config
mv "$own" "$own-old" && cp -r "$own-old" "$own" && mark "replaced"; printf '%s\n' "$PWD/evil" >"$own/commondir" && mark "redirected"
mv .git .git-old && mark "replaced"; printf 'gitdir: %s\n' "$PWD/evil" >.git && mark "redirected"
printf '%s\n' "$PWD/evil" >"$common/commondir" && mark "redirected"; printf '[core]\n' >>"$common/config" && mark "redirected"; printf '[core]\n' >>"$own/config.worktree" && mark "redirected"
echo made >made.txt; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made; mark "commit $?"
"$LW" task complete "$id"; exit 0
A
W=$(worktree_new "$REPO" linked); cd "$W"; ralph "$AGENT" --once; grep -q '^commit' jail-marks 2>/dev/null || fail "the agent did not run to its end"
for d in "$W" "$REPO"; do git -C "$d" status >"$SCENE/io/status" 2>&1 || fail "the operator's git does not work in $d: $(head -n 2 "$SCENE/io/status" | tr '\n' '|')"; [ ! -e "$d/pwned" ] || fail "the operator's git ran what the agent wrote: $(tr '\n' '|' <jail-marks)"; done
for m in replaced redirected; do ! grep -qx "$m" jail-marks || fail "the jail let it be $m"; done; grep -qx 'commit 0' jail-marks || fail "an honest commit does not work inside"; complete_or_fail T-001; [ ! -e "$REPO/.git/commondir" ] && [ -z "$(find "$REPO/.git" -name config.worktree)" ] || fail "something is left in .git"
pass
