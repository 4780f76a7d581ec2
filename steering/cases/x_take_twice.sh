# take twice: refused, or the same or another work tree; work in the first is not lost
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; f=$FOLDER; i_commit alpha; c=$(git -C "$f" rev-parse HEAD); [ "$TAKE_FORM" = commit ] || { lw take "$ID" alpha; sleep 1; }
[ "$(git -C "$f" rev-parse HEAD 2>/dev/null)" = "$c" ] && [ -e "$f/alpha.sh" ] || no 'the first work tree was overwritten'; FOLDER=$f; [ $RC != 0 ] || cp "$OUT" "$T/take.alpha.json"; take_done alpha; [ $RC = 0 ] || no "the first work is refused: $(said)"; done_with alpha passed; once alpha
ok
