# accept while another story is under way on the old head: that one is restacked or done again, and both are there once
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'
must accept "$ID" alpha --reason 'do-it-at-once'; sleep 2; release beta; wait_story alpha passed; done_with beta passed; by_person alpha do-it-at-once; once beta
[ -n "$(file_at "$B" beta.sh)" ] && [ -n "$(file_at "$B" alpha.sh)" ] || no 'a file is missing'; [ "$(attempts beta)" -le 2 ] || no "beta needed $(attempts beta) attempts"
ok
