# skip of a story that asks a person: the question goes, the loop goes on
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode ask; start; until_true 60 'it asks' eval '[ "$(n_events needs_human alpha)" != 0 ]'
must skip "$ID" alpha; done_with beta passed; is_state alpha skipped || no "alpha is $(state alpha)"; refused answer "$ID" retry
ok
