# a person's commit that the judge rejects does not land
. "$(dirname "$0")/../lib.sh"
skipped_alpha; ctl alpha.judge fail; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"
i_commit alpha; take_done alpha; [ $RC = 0 ] || no "handing in was refused: $(said)"
until_true 60 'the judge was asked' grep -q '^alpha ' "$T/judged"; sleep 3
! is_state alpha passed || no 'it passed although the judge said FAIL'; never alpha
ok
