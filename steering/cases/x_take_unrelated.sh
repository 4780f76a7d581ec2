# a commit without a common history is handed in: refused, or the story ends with a reason or a question; never silence
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold alpha; start; wait_call 'alpha 1 implement'; must take "$ID" alpha; release alpha
tree=$(git -C "$P" rev-parse HEAD^{tree}); c=$(git -C "$P" commit-tree -m orphan "$tree"); git -C "$P" branch orphan "$c"
until_true 30 'taken' is_state alpha taken
lw take "$ID" alpha --done --commit orphan
[ $RC = 0 ] || ok
sleep 40
is_state alpha running && no "alpha is running for ever: $(cat "$LOOPWRIGHT_HOME"/loops/*/fault 2>/dev/null | head -c 300); loop $(lw status "$ID" --json; grep -o '"status": *"[a-z_]*"' "$OUT" | head -1)"
ok
