# the judge calls it
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; ctl judge.do "[ \$s = beta ] && { $(agent_line 'env -i'); }"; start; agent_refused
ok
