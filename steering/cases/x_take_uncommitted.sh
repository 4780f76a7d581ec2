# work that is not committed: refused with the files still there, or it lands; never lost in silence
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; i_commit alpha; echo 'echo more' >"$FOLDER/more.sh"; take_done alpha
if [ $RC = 0 ]; then done_with alpha passed; [ -n "$(file_at "$B" more.sh)" ] || [ -e "$FOLDER/more.sh" ] || no 'the uncommitted file is lost'
else [ -e "$FOLDER/more.sh" ] || no 'refused, and the file is gone'; git -C "$FOLDER" add -A; git -C "$FOLDER" commit -qm more; take_done alpha; [ $RC = 0 ] || no "then refused too: $(said)"; done_with alpha passed; [ -n "$(file_at "$B" more.sh)" ] || no 'more.sh is missing'; fi; once alpha
ok
