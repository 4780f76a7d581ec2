# DECIDED: what a person skipped is not brought back by the recheck at the loop's end, though its candidate would pass by now
. "$(dirname "$0")/../lib.sh"
MAX_RETRIES=1 project_with alpha beta; ctl alpha.judge fail; ctl alpha.do 'if [ "$n" -ge 2 ]; then while [ -e "$T/ctl/two.hold" ]; do sleep 0.1; done; fi'; hold two
start; wait_call 'alpha 2 implement'; must skip "$ID" alpha; ctl alpha.judge pass; release two; done_with beta passed; sleep 2
is_state alpha skipped || no "alpha is $(state alpha), although a person skipped it"; never alpha
ok
