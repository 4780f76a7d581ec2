# skip of the story under way: its agent ends, the loop goes on with the next
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold alpha; start; wait_call 'alpha 1 implement'; p=$(pid_of 'alpha 1 implement')
must skip "$ID" alpha
until_true 30 "the agent of the skipped story has ended" is_dead "$p"
done_with beta passed; is_state alpha skipped || no "alpha is $(state alpha)"; never alpha
[ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || no 'alpha was begun again'
ok
