# take while an agent works on it: refused and nothing changes, or the agent ends and only the person's work counts
. "$(dirname "$0")/../lib.sh"
project_with alpha; hold alpha; start; wait_call 'alpha 1 implement'; p=$(pid_of 'alpha 1 implement'); take_begin alpha
if [ $RC != 0 ]; then alive "$p" || no 'refused, but the agent has ended'; release alpha; done_with alpha passed; once alpha; ok; fi
if [ "$TAKE_FORM" = folder ]; then until_true 30 'the agent ended' is_dead "$p"; sleep 2; [ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || no 'an agent was started again'; fi
echo '# by hand' >"$FOLDER/alpha.sh"; echo 'echo alpha-good' >>"$FOLDER/alpha.sh"; git -C "$FOLDER" add -A; git -C "$FOLDER" commit -qm mine; take_done alpha; rc=$RC; release alpha; done_with alpha passed; once alpha
[ $rc != 0 ] || file_at "$B" alpha.sh | grep -q 'by hand' || no "the agent's work landed instead of the person's"
ok
