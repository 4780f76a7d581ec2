# another story landed since: restacked on it, measured again, both on the branch
. "$(dirname "$0")/../lib.sh"
landed_between; n=$(n_checks); b=$(commits_of beta)
must accept "$ID" alpha --reason 'as it is'; release gamma; wait_story alpha passed; until_true 20 'alpha is published' eval '[ "$(n_commits_of alpha)" = 1 ]'
[ "$(n_checks)" -gt "$n" ] || no 'it was not measured again'
git -C "$P" merge-base --is-ancestor "$b" "$(commits_of alpha)" || no "alpha does not stand on beta's commit"
[ -n "$(file_at "$B" beta.sh)" ] && [ -n "$(file_at "$B" alpha.sh)" ] || no 'a file is missing on the branch'
release gamma; done_with gamma passed; by_person alpha 'as it is'; once beta; once gamma
ok
