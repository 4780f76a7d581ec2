# the same retry twice at once: one or two say yes, one implementor at a time, one commit
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha; hold alpha
bg one retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT; bg two retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
joined one; a=$RC; joined two; b=$RC; [ $a = 0 ] || [ $b = 0 ] || no "both were refused ($a, $b): $(said)"
wait_call 'alpha [2-9] implement'; sleep 2; [ "$(n_calls 'alpha [2-9] implement')" = 1 ] || no 'two implementors were started'
release alpha; done_with alpha passed; once alpha; [ "$(n_events story.pass alpha)" = 1 ] || no 'two story.pass events'
ok
