# accept while another story is in an attempt that fails: it lands between that story's attempts, and both are there once
MAX_RETRIES=1
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; ctl beta.mode bad; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'; p=$(pid_of 'beta 1 implement')
must accept "$ID" alpha --reason 'do-it-at-once'; release beta; until_true 30 'beta 1 ended' is_dead "$p"; ctl beta.mode good
wait_story alpha passed; done_with beta passed; once beta; by_person alpha 'do-it-at-once'
[ -n "$(file_at "$B" beta.sh)" ] && [ -n "$(file_at "$B" alpha.sh)" ] || no 'a file is missing'
ok
