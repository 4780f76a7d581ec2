# after a cancel: refused and nothing changes, or it goes on and passes; never half
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode hint; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'; p=$(pid_of 'beta 1 implement')
must cancel "$ID"; until_true 30 'beta ended' is_dead "$p"; wait_over; release beta
lw retry "$ID" alpha --hint PLEASE-DO-IT-RIGHT
if [ $RC = 0 ]; then wait_story alpha passed; once alpha; else sleep 2; is_state alpha skipped || no "refused, but alpha is $(state alpha)"; is_over || no 'refused, but the loop goes on'; fi
ok
