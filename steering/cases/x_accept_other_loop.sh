# an agent of one loop accepts a story of another loop
. "$(dirname "$0")/../lib.sh"
skipped_alpha; first=$ID; Q=$T/q; git clone -q "$P" "$Q"; git -C "$P" show "$BASE:prd.json" | sed 's/alpha/beta/g' >"$Q/prd.json"
ctl beta.do "$(agent_line 'env -i' | sed "s/\\\$LOOPWRIGHT_LOOP_ID/$first/")"
"$LW" start --project "$Q" --prd "$Q/prd.json" --json >"$T/out" 2>"$T/err" </dev/null || no "second loop: $(cat "$T/out" "$T/err")"
until_true 60 'the agent called the binary' test -s "$T/agent.rc"; grep -q 'unrecognized subcommand' "$T/agent.out" && no 'the verb accept does not exist (all before it was played)'
grep -q "$first" "$T/agent.out" || grep -qi '"ok": *false' "$T/agent.out" || no "the call went wrong: $(head -c 200 "$T/agent.out")"
[ "$(cat "$T/agent.rc")" != 0 ] || no 'it was not refused'; sleep 2; is_state alpha skipped || no "alpha is $(state alpha)"; never alpha
must accept "$ID" alpha --reason 'the person may'; done_with alpha passed; by_person alpha 'the person may'
ok
