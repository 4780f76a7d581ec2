# what was blocked by the story goes on after a retry that passes
. "$(dirname "$0")/../lib.sh"
ALPHA=hint skipped_alpha alpha beta:alpha gamma:beta
is_state beta blocked || no "beta is $(state beta)"
must retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
done_with gamma passed; once alpha; once beta; once gamma
ok
