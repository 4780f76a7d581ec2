# a loop that ended by max_iterations: a retry by hand runs all the same
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode hint; start --max-iterations 1; wait_story alpha skipped; sleep 2; echo "# loop is $(loop_state)" >&2
must retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT; wait_story alpha passed; once alpha
ok
