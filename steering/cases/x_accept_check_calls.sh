# code of a candidate calls it while it is being checked (checks carry no LOOPWRIGHT_ variables)
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad
ctl beta.do 'printf "%s\n" "echo beta-good" "[ -e $T/agent.rc ] || { env LOOPWRIGHT_HOME=$STATE HOME=$T/home $LWBIN accept $LOOPWRIGHT_LOOP_ID alpha --reason sneaky --json >$T/agent.out 2>&1 </dev/null; echo \$? >$T/agent.rc; }" >beta.sh; exit 0'
start; agent_refused
ok
