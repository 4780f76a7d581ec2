#!/usr/bin/env bash
# what: 50 processes in two worktrees claim one task at the same moment: exactly one wins
# from: "claims that hold across worktrees", lessons B2
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; WT=$(worktree_new "$REPO" b)
# each claimer is a shell that lives on, so that neither its pid nor its parent's is dead while the others try
cat >"$SCENE/bin/claimer" <<'X'
#!/usr/bin/env bash
cd "$1" || exit 9; while [ ! -e "$SCENE/go" ]; do sleep 0.02; done
"$LOOPWRIGHT" task claim T-001 >"$SCENE/io/claim.$2.out" 2>"$SCENE/io/claim.$2.err" </dev/null; echo $? >"$SCENE/io/claim.$2.rc.new"; mv "$SCENE/io/claim.$2.rc.new" "$SCENE/io/claim.$2.rc"
sleep 60
X
chmod +x "$SCENE/bin/claimer"
for i in $(seq 50); do d=$REPO; [ $((i % 2)) = 0 ] && d=$WT; setsid "$SCENE/bin/claimer" "$d" "$i" >/dev/null 2>&1 & PIDS+=($!); done
sleep 1; : >"$SCENE/go"
all_there() { [ "$(ls "$SCENE"/io/claim.*.rc 2>/dev/null | wc -l)" = 50 ]; }
wait_for "50 answers" 35 all_there
won=$(cat "$SCENE"/io/claim.*.rc | grep -cx 0)
[ "$won" = 1 ] || fail "$won of 50 claimers won: $(cat "$SCENE"/io/claim.*.rc | sort | uniq -c | tr '\n' ' ')"
for i in $(seq 50); do [ "$(cat "$SCENE/io/claim.$i.rc")" = 0 ] || { grep -qi panicked "$SCENE/io/claim.$i.err" && fail "a loser crashed"; grep -qiE 'locked|busy' "$SCENE/io/claim.$i.err" && ! grep -qiE 'claim|held|progress' "$SCENE/io/claim.$i.err" && fail "a loser saw a lock error instead of the holder: $(head -c 200 "$SCENE/io/claim.$i.err")"; }; done
pass
