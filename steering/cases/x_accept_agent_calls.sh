# an agent calls the binary itself
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; ctl beta.do "$(agent_line env)"; start; agent_refused
ok
