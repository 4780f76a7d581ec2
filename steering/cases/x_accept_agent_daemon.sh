# an agent calls it from a process of its own session, with an empty environment, its parents gone
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; agent_line 'env -i' | sed "s#\$STATE#$LOOPWRIGHT_HOME#; s#\$T#$T#g; s#\$PATH#$PATH#; s#\$LWBIN#$LW#" >"$T/agents/call.sh"
ctl beta.do 'sed "s/\$LOOPWRIGHT_LOOP_ID/$LOOPWRIGHT_LOOP_ID/" "$T/agents/call.sh" >"$T/agents/call2.sh"
( env -i PATH="$PATH" setsid sh -c "sleep 0.5; cd /; sh $T/agents/call2.sh" >/dev/null 2>&1 </dev/null & ) ; i=0; while [ ! -s "$T/agent.rc" ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done'
start; agent_refused
ok
