# kill -9 of the worker right after the retry and in the new attempt: it goes on, nothing is done twice
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha alpha beta:alpha; hold alpha; must retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT; kill_worker; nudge
wait_call 'alpha 2 implement'; kill_worker_for 3; release alpha; nudge; done_with beta passed; once alpha; once beta
[ "$(n_calls 'alpha 2 implement')" = 1 ] || no 'an agent whose worker died was started again'
grep -qF PLEASE-DO-IT-RIGHT "$T"/prompts/alpha.2.implement.* || no 'the hint was lost'
ok
