# retry of a story under way: refused and nothing changes, or a new attempt with the hint and the old agent ended; never two at once
. "$(dirname "$0")/../lib.sh"
project_with alpha; hold alpha; start; wait_call 'alpha 1 implement'; p=$(pid_of 'alpha 1 implement')
lw retry "$ID" alpha --hint A-NEW-HINT
if [ $RC = 0 ]; then sleep 3; [ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || is_dead "$p" || no 'two implementors at once'; else alive "$p" || no 'refused, but the agent has ended'; fi
rc=$RC; release alpha; done_with alpha passed; once alpha
[ $rc != 0 ] || grep -qF A-NEW-HINT "$T"/prompts/alpha.* || no 'the verb said yes, but the hint reached nobody'
ok
