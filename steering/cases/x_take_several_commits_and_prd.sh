# several commits, one of which edits the PRD: one commit of the story on the branch, and the PRD is as it was
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_begin alpha; [ $RC = 0 ] || no "take was refused: $(said)"; echo 'echo helper' >"$FOLDER/helper.sh"; git -C "$FOLDER" add -A; git -C "$FOLDER" commit -qm one
sed -i 's/"passes": false/"passes": true/; s/Make alpha/Hacked/' "$FOLDER/prd.json"; git -C "$FOLDER" commit -qam prd; i_commit alpha; take_done alpha; [ $RC = 0 ] || no "refused: $(said)"
done_with alpha passed; once alpha; [ "$(git -C "$P" rev-list --count "$BASE..$B")" = 1 ] || no 'more than one commit'; [ -n "$(file_at "$B" helper.sh)" ] || no 'the first commit is missing'; file_at "$B" prd.json | grep -q Hacked && no 'the PRD was changed by the candidate'
ok
