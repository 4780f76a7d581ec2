# accept and retry of the same story at once: a consistent end, at most one commit
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha; bg one accept "$ID" alpha --reason 'who-is-first'; bg two retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
joined one; a=$RC; joined two; b=$RC; [ $a = 0 ] || [ $b = 0 ] || no "both were refused: $(said)"
done_with alpha passed; once alpha; trailer "$(commits_of alpha)" Verified | grep -q person && by_person alpha who-is-first
ok
