# nothing committed: no empty commit lands
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; take_done alpha; sleep 3; never alpha; ! is_state alpha passed || no 'it passed without work'
i_commit alpha; take_done alpha; [ $RC = 0 ] || no "after an empty hand-in the real one is refused: $(said)"; done_with alpha passed; once alpha
ok
