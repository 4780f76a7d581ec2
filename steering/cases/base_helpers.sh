# Today's binary: the helpers see what they should (no person's name or trailer in an ordinary pass; once, never, trailer, prd work).
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl beta.mode bad; start; wait_story alpha passed; done_with beta skipped
once alpha; never beta; [ "$(prd alpha passes)$(prd beta skipped)" = TrueTrue ] || no 'prd'
[ "$(trailer "$(commits_of alpha)" Story-Id)" = alpha ] || no trailer; [ "$(sha alpha)" = "$(commits_of alpha)" ] || no sha
all=$("$LW" story "$ID" alpha --json; "$LW" events "$ID" --json; "$LW" report "$ID" --json; git -C "$P" log -1 --format=%B "$B")
grep -qiE "petra|\"$(id -un)\"" <<<"$all" && no 'a name is there without any person'
( trap - EXIT; by_person alpha ) | grep -q 'no trailer Verified' || no 'by_person does not notice a missing trailer'
c=$(git -C "$P" commit-tree -p "$BASE" -m "feat: x

Loop-Id: $ID
Story-Id: alpha
Attempt: 1
Verified: person" "$B^{tree}"); [ "$(trailer "$c" Verified)" = person ] || no 'trailer of a made commit'
git -C "$P" update-ref "refs/heads/$B" "$c"; ( trap - EXIT; sound ) | grep -q 'no person accepted it' || no 'sound does not notice a forged acceptance'
git -C "$P" update-ref "refs/heads/$B" "$(sha alpha)"
ok
