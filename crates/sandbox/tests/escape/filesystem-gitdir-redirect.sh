#!/usr/bin/env bash
# class: filesystem
# judge: host
# tries: replacing .git by a file "gitdir: OTHER_CHECKOUT/.git", by a link, with commondir, alternates and worktree config that point to the other story or the operator; committing there
# must: HELD; refs, config and objects of OTHER_CHECKOUT unchanged; the host does not follow the gitdir file
# control: bare
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
need OTHER_CHECKOUT; o="$OTHER_CHECKOUT"; got=""
timeout 5 git --git-dir="$o/.git" log --oneline -1 >/dev/null 2>&1 </dev/null && got="$got log-of-other"
timeout 5 git --git-dir="$o/.git" rev-parse --git-dir >/dev/null 2>&1 </dev/null && got="$got git-dir"
timeout 5 git -c protocol.file.allow=always clone -q "file://$o" clone-of-other >/dev/null 2>&1 </dev/null && got="$got clone"; rm -rf clone-of-other
timeout 5 git worktree list 2>/dev/null </dev/null | grep -qF "$o" && got="$got worktree-list-shows-it"
[ -d .git ] || git init -q .; mkdir -p .git/objects/info; echo "$o/.git/objects" > .git/objects/info/alternates; timeout 5 git count-objects -v 2>/dev/null </dev/null | grep -q '^alternate' && [ -d "$o/.git/objects" ] && got="$got alternates"
rm -f .git/objects/info/alternates; mv .git .git.kept 2>/dev/null && { echo "gitdir: $o/.git" > .git; timeout 5 git rev-parse --git-common-dir >/dev/null 2>&1 </dev/null && got="$got gitfile"; }
[ -n "$got" ] && { rm -f .git; mv .git.kept .git; end ESCAPED "other story's repository:$got"; }
end HELD "the other repository is not there; a .git file that points to it is left for the host"
