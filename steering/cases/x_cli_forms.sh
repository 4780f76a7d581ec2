# beginnings of ids work as elsewhere; --json before the verb; text form goes to stdout and is not empty
. "$(dirname "$0")/../lib.sh"
skipped_alpha; s=${ID: -6}; lw --json accept "$s" alpha --reason 'short id'; [ $RC = 0 ] || no "an id's end was refused: $(said)"; done_with alpha passed; by_person alpha 'short id'
"$LW" retry "$ID" alpha >"$T/o" 2>"$T/e" </dev/null; r=$?; [ $r = 2 ] && [ -s "$T/e" ] || no "text form of a refusal: exit code $r, stderr $(wc -c <"$T/e") bytes"
ok
