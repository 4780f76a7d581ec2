# kill -9 of the worker in the middle of a skip of the story under way: the agent still ends, the loop goes on
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold alpha; start; wait_call 'alpha 1 implement'; p=$(pid_of 'alpha 1 implement')
bg one skip "$ID" alpha; kill_worker_for 3; joined one; nudge; [ $RC = 0 ] || must skip "$ID" alpha
until_true 40 'the agent of the skipped story has ended' is_dead "$p"; done_with beta passed; is_state alpha skipped || no "alpha is $(state alpha)"; never alpha
ok
