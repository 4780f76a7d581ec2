# kill -9 of the command itself at several moments: either nothing happened or it lands once; asking again settles it
. "$(dirname "$0")/../lib.sh"
landed_between
for d in 0.02 0.05 0.1 0.3; do "$LW" accept "$ID" alpha --reason 'again and again' --json >"$T/out" 2>"$T/err" </dev/null & c=$!; sleep $d; kill -9 $c 2>/dev/null; wait $c 2>/dev/null
  grep -q 'unrecognized subcommand' "$T/out" "$T/err" && no 'the verb accept does not exist (all before it was played)'; done
sleep 2; is_state alpha passed || lw accept "$ID" alpha --reason 'again and again'; release gamma; wait_story alpha passed; done_with gamma passed; by_person alpha 'again and again'
ok
