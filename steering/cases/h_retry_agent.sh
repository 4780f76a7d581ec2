# retry with another agent
. "$(dirname "$0")/../lib.sh"
project_with alpha; ctl alpha.mode.builder bad; ctl alpha.mode.second good; start; done_with alpha skipped
must retry "$ID" alpha --agent second
done_with alpha passed; once alpha
grep -qE '^alpha [0-9]+ implement second' "$T/calls" || no 'the other agent was not called'
[ "$(n_calls 'alpha [0-9]+ implement builder')" = 1 ] || no 'the old agent was called again'
ok
