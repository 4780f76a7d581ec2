# the branch was moved by its owner: it stays theirs
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; ctl alpha.mode bad; start; wait_story alpha skipped; done_with beta passed
c=$(git -C "$P" commit-tree -p "$B" -m 'my own' "$B^{tree}"); git -C "$P" update-ref "refs/heads/$B" "$c"; lw accept "$ID" alpha --reason 'mine'; sleep 4; nudge; [ "$(tip)" = "$c" ] || no "somebody's branch was moved"
[ $RC != 0 ] || wait_story alpha passed; TIP_IS_MINE=1; git -C "$P" log --format=%s "$B" | grep -c alpha | grep -qx 0 || no 'alpha landed on it'; echo "ok $(basename "$0" .sh)"; exit 0
