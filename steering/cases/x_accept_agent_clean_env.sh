# an agent calls the binary with an empty environment, so that no LOOPWRIGHT_ mark is left
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; ctl beta.do "$(agent_line 'env -i')"; start; agent_refused
ok
