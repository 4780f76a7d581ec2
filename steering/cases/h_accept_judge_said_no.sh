# accept over green facts needs no reason; after the loop's end it is published
. "$(dirname "$0")/../lib.sh"
ALPHA=good JUDGE=fail skipped_alpha
must accept "$ID" alpha; done_with alpha passed; by_person alpha
[ "$(file_at "$B" alpha.sh)" = 'echo alpha-good' ] || no 'the branch has other content'
[ "$(git -C "$P" rev-parse "$B~1")" = "$BASE" ] || no 'not a child of the head'
ok
