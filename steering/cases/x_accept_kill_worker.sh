# kill -9 of the worker in the middle of measuring again: it lands once
. "$(dirname "$0")/../lib.sh"
landed_between; : >"$T/ctl/check.hold"; bg one accept "$ID" alpha --reason 'come what may'; release gamma; sleep 4; kill_worker_for 3; rm -f "$T/ctl/check.hold"; nudge; joined one
[ $RC = 0 ] || { nudge; is_state alpha passed || must accept "$ID" alpha --reason 'come what may'; }
wait_story alpha passed; release gamma; done_with gamma passed; by_person alpha 'come what may'; [ "$(n_events story.pass alpha)" = 1 ] || no 'two story.pass events'
ok
