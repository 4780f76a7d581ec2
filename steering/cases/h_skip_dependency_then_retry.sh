# skip of a story that others depend on: they are blocked, the rest goes on; retry afterwards brings all back
. "$(dirname "$0")/../lib.sh"
project_with alpha beta:alpha gamma; hold alpha; start; wait_call 'alpha 1 implement'
must skip "$ID" alpha; done_with gamma passed
is_state alpha skipped || no "alpha is $(state alpha)"; is_state beta blocked || no "beta is $(state beta)"
release alpha; must retry "$ID" alpha
done_with beta passed; once alpha; once beta; [ "$(prd alpha skipped)" = False ] || no 'the PRD still says skipped'
ok
