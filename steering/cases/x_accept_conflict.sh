# the head moved and the candidate does not apply to it: nothing lands half, the loop is not stuck
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; ctl alpha.do 'echo "echo by alpha" >shared.sh'; ctl beta.do 'echo "echo by beta" >shared.sh'; start; wait_story alpha skipped; done_with beta passed; t=$(tip)
lw accept "$ID" alpha --reason 'mine'; [ $RC = 0 ] && sleep 6
never alpha; [ "$(tip)" = "$t" ] || no 'the branch moved'; ! is_state alpha passed || no 'alpha is passed without a commit'
ctl alpha.mode good; rm -f "$T/ctl/alpha.do"; lw retry "$ID" alpha; [ $RC = 0 ] || no "after the conflict a retry is refused: $(said)"; done_with alpha passed; once alpha
ok
