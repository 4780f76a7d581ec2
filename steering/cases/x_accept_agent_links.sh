# an agent calls the binary with an empty environment and a folder of links into the state folder
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad
ctl beta.do 'mkdir -p "$T/links"; ln -sf "$STATE"/* "$T/links/"; STATE=$T/links
'"$(agent_line 'env -i')"; start; agent_refused
ok
