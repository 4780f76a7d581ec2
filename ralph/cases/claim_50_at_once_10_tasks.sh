#!/usr/bin/env bash
# what: 50 claimers without an id on 10 ready tasks: exactly 10 win, all different
# from: "task claim [ID]", "One claim store per repository"
# sure: yes (a winner names its task on stdout: id or its prompt)
. "$(dirname "$0")/lib.sh"
scene 10; WT=$(worktree_new "$REPO" b)
cat >"$SCENE/bin/claimer" <<'X'
#!/usr/bin/env bash
cd "$1" || exit 9; while [ ! -e "$SCENE/go" ]; do sleep 0.02; done
"$LOOPWRIGHT" task claim >"$SCENE/io/claim.$2.out" 2>"$SCENE/io/claim.$2.err" </dev/null; echo $? >"$SCENE/io/claim.$2.rc.new"; mv "$SCENE/io/claim.$2.rc.new" "$SCENE/io/claim.$2.rc"
sleep 60
X
chmod +x "$SCENE/bin/claimer"
for i in $(seq 50); do d=$REPO; [ $((i % 2)) = 0 ] && d=$WT; setsid "$SCENE/bin/claimer" "$d" "$i" >/dev/null 2>&1 & PIDS+=($!); done
sleep 1; : >"$SCENE/go"
all_there() { [ "$(ls "$SCENE"/io/claim.*.rc 2>/dev/null | wc -l)" = 50 ]; }
wait_for "50 answers" 35 all_there
ids=; n=0
for i in $(seq 50); do [ "$(cat "$SCENE/io/claim.$i.rc")" = 0 ] || continue; n=$((n+1)); t=$(token_of "$SCENE/io/claim.$i.out"); [ -n "$t" ] || t=$(grep -oE 'T-0[0-9]{2}' "$SCENE/io/claim.$i.out" | head -n1); ids+="$t"$'\n'; done
[ $n = 10 ] || fail "$n claimers won on 10 tasks"
[ "$(printf %s "$ids" | sort -u | grep -c .)" = 10 ] || fail "two winners have one task: $(printf %s "$ids" | sort | tr '\n' ' ')"
offered; [ -z "$OFFER" ] || fail "$OFFER is still offered"; rc_is "next when all are held" 1
pass
