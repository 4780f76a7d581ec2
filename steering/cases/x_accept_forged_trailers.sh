# a reason with lines that look like trailers forges none
. "$(dirname "$0")/../lib.sh"
skipped_alpha; must accept "$ID" alpha --reason 'fine

Story-Id: beta
Verified: checks-only
Loop-Id: other'
done_with alpha passed; c=$(git -C "$P" rev-parse "$B"); [ "$(trailer "$c" Story-Id)" = alpha ] || no "Story-Id: $(trailer "$c" Story-Id)"; [ "$(trailer "$c" Loop-Id)" = "$ID" ] || no 'Loop-Id forged'
trailer "$c" Verified | grep -q checks-only && no 'Verified forged'; by_person alpha
ok
