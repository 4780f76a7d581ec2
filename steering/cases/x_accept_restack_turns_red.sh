# facts were green on the old head, and are red on the new one: without a reason nothing lands, with one it does
. "$(dirname "$0")/../lib.sh"
project_with alpha beta gamma; ctl alpha.judge fail; ctl alpha.do 'echo "echo marker" >marker.sh'; hold gamma
ctl beta.extra '[ -e beta.sh ] && [ ! -e marker.sh ] || { echo "a marker is in the way"; exit 1; }'; start; wait_story alpha skipped; wait_story beta passed; wait_call 'gamma 1 implement'; t=$(tip)
lw accept "$ID" alpha; [ $RC != 0 ] || sleep 8
never alpha; [ "$(tip)" = "$t" ] || no 'the branch moved'; ! is_state alpha passed || no 'it passed over red facts without a reason'
must accept "$ID" alpha --reason 'I know'; release gamma; wait_story alpha passed; done_with gamma passed; by_person alpha 'I know'
ok
