# the branch is checked out by its owner: it is left alone, the work is safe and published afterwards
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; start; wait_story alpha skipped; done_with beta passed; git -C "$P" worktree add -q "$T/wt" "$B"; t=$(tip)
must accept "$ID" alpha --reason 'not now'; wait_story alpha passed; [ "$(tip)" = "$t" ] || no 'a checked-out branch was moved'; [ -z "$(git -C "$T/wt" status --porcelain)" ] || no 'their work tree is dirty'
git -C "$P" worktree remove "$T/wt"; lw resume "$ID"; nudge; until_true 40 'it is published' eval '[ "$(n_commits_of alpha)" = 1 ]'; by_person alpha 'not now'
ok
