# a person takes a story and gives up: skip ends it, the loop completes, their folder stays
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold alpha; start; wait_call 'alpha 1 implement'; take_begin beta; [ $RC = 0 ] || no "take was refused: $(said)"; i_commit beta half; release alpha; wait_story alpha passed
[ "$TAKE_FORM" = commit ] || { sleep 1; ! is_over || no 'the loop ended although a person still works on a story'; must skip "$ID" beta; done_with beta skipped; }; [ -e "$FOLDER/beta.sh" ] || no "the person's folder was removed"; never beta
ok
