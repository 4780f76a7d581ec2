# skip twice at once of the story under way: one end, one event, the loop goes on
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold alpha; start; wait_call 'alpha 1 implement'
bg one skip "$ID" alpha; bg two skip "$ID" alpha; joined one; a=$RC; joined two; [ $a = 0 ] || [ $RC = 0 ] || no "both were refused: $(said)"
done_with beta passed; is_state alpha skipped || no "alpha is $(state alpha)"; [ "$(n_events story.fail alpha)" -le 1 ] || no 'story.fail twice'
ok
