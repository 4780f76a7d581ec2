# retry of a skipped story after the loop's end; the hint reaches the implementor; the loop goes on and ends again
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha
n=$(n_events complete)
must retry "$ID" alpha --hint 'use the word: PLEASE-DO-IT-RIGHT'
done_with alpha passed; once alpha
grep -qF PLEASE-DO-IT-RIGHT "$T"/prompts/alpha.*.implement.* || no 'the hint is in no prompt of the implementor'
[ "$(prd alpha passes)$(prd alpha skipped)" = TrueFalse ] || no 'the PRD does not follow'
[ "$(n_events complete)" -gt "$n" ] || no 'no second loop.complete event'
[ "$(attempts alpha)" -gt 1 ] || no 'the attempts did not go on counting'
trailer "$(commits_of alpha)" Verified | grep -qi person && no 'a judged commit says Verified: person'
ok
