# handed in twice at once: one candidate lands
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; i_commit alpha; mapfile -t w < <(take_command alpha); bg one "${w[@]}"; bg two "${w[@]}"; joined one; a=$RC; joined two; [ $a = 0 ] || [ $RC = 0 ] || no "both were refused: $(said)"
done_with alpha passed; once alpha; [ "$(n_events story.pass alpha)" = 1 ] || no 'two story.pass events'
ok
