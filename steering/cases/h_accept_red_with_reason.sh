# accept over red facts with a reason: recorded with name and reason, with its trailer, once on the branch; what is accepted is the candidate
. "$(dirname "$0")/../lib.sh"
skipped_alpha; want=$(q diff 'r["to"]' alpha); tree=$(git -C "$LOOPWRIGHT_HOME/loops/$ID/repo.git" rev-parse "$want^{tree}")
must accept "$ID" alpha --reason 'good enough for the demo on Friday'
done_with alpha passed; by_person alpha 'good enough for the demo on Friday'
[ "$(git -C "$P" rev-parse "$B^{tree}")" = "$tree" ] || no 'what landed is not the candidate that was shown'
[ "$(n_events story.pass alpha)" = 1 ] || no "$(n_events story.pass alpha) story.pass events"
ok
