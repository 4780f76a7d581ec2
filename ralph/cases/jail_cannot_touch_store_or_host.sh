#!/usr/bin/env bash
# what: hostile: the agent knows the state folder and the home: it can neither change the store nor write beside the checkout, nor read a secret of the home; its daemons end with the task
# from: "The agent is untrusted" (I9), I11, A23
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 1; echo s3cret >"$HOME/.secret"; echo keep >"$SCENE/outside"; cat >"$SCENE/io/body" <<'A'
cat "$S/home/.secret" >stolen 2>/dev/null; echo bad >"$S/outside"; find "$S/state" "$S/xstate" "$S/data" -type f 2>/dev/null | while read -r f; do echo garbage >"$f"; done; touch "$S/state/pwned" "$S/pwned"
setsid sh -c 'while :; do sleep 1; done' case18-jail-daemon & 
"$LW" task complete "$id"; exit 0
A
jail_agent < <(printf 'S=%q\n' "$SCENE"; cat "$SCENE/io/body")
ralph "$AGENT" --once; grep -q "start T-001" jail-marks || fail "the agent did not run"; [ "$(cat "$SCENE/outside")" = keep ] && [ ! -e "$SCENE/pwned" ] && [ ! -e "$SCENE/state/pwned" ] || fail "a write outside of the checkout"; [ ! -s stolen ] || fail "a secret of the home was read"; complete_or_fail T-001; lw task status; rc_is "the store is sound" 0
for c in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$c" 2>/dev/null | grep -q 'case18-jail-daemon' && q=$(basename "$(dirname "$c")") && [ "$q" != $$ ] && grep -qs "while :" "$c" && fail "a daemon outlived its task"; done
pass
