# retry of a skipped story while another one is under way
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode hint; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'
must retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
release beta
wait_story beta passed; done_with alpha passed; once alpha; once beta
[ "$(n_calls 'beta [0-9]+ implement')" = 1 ] || no 'beta was begun again'
ok
