# kill -9 of the worker after take, and while the person's commit is measured
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; kill_worker; i_commit alpha; : >"$T/ctl/check.hold"; mapfile -t w < <(take_command alpha); bg one "${w[@]}"; sleep 2; kill_worker_for 3; rm -f "$T/ctl/check.hold"; nudge; joined one
[ $RC = 0 ] || is_state alpha passed || { take_done alpha; [ $RC = 0 ] || no "refused: $(said)"; }; done_with alpha passed; once alpha; [ "$(n_calls 'alpha [0-9]+ implement')" = 1 ] || no 'an agent implemented what a person took'
ok
