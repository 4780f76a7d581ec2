# retry while the loop is paused: recorded, begun only after resume
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode hint; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'
must pause "$ID"; must retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
release beta; sleep 4
[ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || no 'the retry began in a paused loop'
must resume "$ID"; wait_story beta passed; done_with alpha passed
ok
