# accept of the first attempt's candidate while an agent works on the second: refused and nothing changes, or landed and the agent ended
. "$(dirname "$0")/../lib.sh"
MAX_RETRIES=1 project_with alpha beta; ctl alpha.mode bad; ctl alpha.do 'if [ "$n" -ge 2 ]; then while [ -e "$T/ctl/two.hold" ]; do sleep 0.1; done; fi'; hold two; start; wait_call 'alpha 2 implement'; p=$(pid_of 'alpha 2 implement')
lw accept "$ID" alpha --reason 'the first one will do'
if [ $RC = 0 ]; then wait_story alpha passed; until_true 30 'the agent ended' is_dead "$p"; release two; done_with beta passed; by_person alpha 'the first one will do'; file_at "$B" alpha.sh | grep -q alpha-bad-1 || no 'something else landed than what was there'
else alive "$p" || no 'refused, but the agent has ended'; release two; done_with beta passed; never alpha; fi
ok
