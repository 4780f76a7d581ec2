# another story lands between take and hand-in: both are on the branch
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; hold beta; start; wait_story alpha skipped; wait_call 'beta 1 implement'; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"
i_commit alpha; release beta; wait_story beta passed; take_done alpha; [ $RC = 0 ] || no "refused: $(said)"; done_with alpha passed; once alpha; once beta
[ "$(file_at "$B" beta.sh)$(file_at "$B" alpha.sh)" = 'echo beta-goodecho alpha-good' ] || no 'a file is missing or other'
ok
