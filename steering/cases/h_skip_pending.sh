# skip of a story that has not begun
. "$(dirname "$0")/../lib.sh"
project_with alpha beta gamma; hold alpha; start; wait_call 'alpha 1 implement'
must skip "$ID" beta; release alpha
done_with gamma passed; is_state beta skipped || no "beta is $(state beta)"; is_state alpha passed || no "alpha is $(state alpha)"
[ "$(n_calls 'beta ')" = 0 ] || no 'an agent worked on beta'; never beta
[ "$(prd beta skipped)" = True ] || no 'the PRD does not say that beta is skipped'
ok
