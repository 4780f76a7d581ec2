# a person's commit with red checks does not land
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"
i_commit alpha wrong; n=$(n_checks); take_done alpha; sleep 1
until_true 60 'it was measured' eval '[ "$(n_checks)" -gt "$n" ] || [ $RC != 0 ]'
sleep 3; ! is_state alpha passed || no 'red work of a person passed without accept'; never alpha
ok
