# the story's own new test that stays red: the next story is not blamed for it
. "$(dirname "$0")/../lib.sh"
skipped_alpha alpha beta:alpha gamma:beta
must accept "$ID" alpha --reason 'mended-some-day'
done_with gamma passed; by_person alpha mended-some-day; once beta; once gamma
[ "$(attempts beta)$(attempts gamma)" = 11 ] || no "beta needed $(attempts beta), gamma $(attempts gamma) attempts"
q story '"alpha" in str(r["attempts"][-1]["evidence"]["facts"]["knownRed"])' beta | grep -q True || no 'the test alpha is not named as known red'
ok
