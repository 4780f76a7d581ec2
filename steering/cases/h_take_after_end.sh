# take of a skipped story after the end: the person's commit is measured, judged and lands
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"
case "$FOLDER" in "$P"|"$P"/*) no 'the work tree is inside my project' ;; esac
j=$(grep -c '^alpha ' "$T/judged"); n=$(n_checks); i_commit alpha; take_done alpha; [ $RC = 0 ] || no "handing in was refused: $(said)"
done_with alpha passed; once alpha
[ "$(grep -c '^alpha ' "$T/judged")" -gt "$j" ] || no 'no judge was asked'; [ "$(n_checks)" -gt "$n" ] || no 'nothing was measured'
[ "$(file_at "$B" alpha.sh)" = 'echo alpha-good' ] || no 'the branch has other content'
[ "$(prd alpha passes)$(prd alpha skipped)" = TrueFalse ] || no 'the PRD does not follow'
ok
