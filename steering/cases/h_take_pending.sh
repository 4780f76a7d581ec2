# take of a story that has not begun: no agent implements it, the others go on meanwhile
. "$(dirname "$0")/../lib.sh"
project_with alpha beta gamma; hold alpha; start; wait_call 'alpha 1 implement'
take_begin beta; [ $RC = 0 ] || no "take was refused: $(said)"
release alpha; wait_story gamma passed; [ "$(n_calls 'beta [0-9]+ implement')" = 0 ] || no 'an agent implemented what a person took'
i_commit beta; take_done beta; [ $RC = 0 ] || no "handing in was refused: $(said)"
done_with beta passed; once alpha; once beta; once gamma; [ "$(n_calls 'beta [0-9]+ implement')" = 0 ] || no 'an agent implemented what a person took'
ok
