# an old test that the accepted commit breaks: the next story is not blamed for it, and it is named as known red
. "$(dirname "$0")/../lib.sh"
ALPHA=breaks skipped_alpha alpha beta:alpha
must accept "$ID" alpha --reason 'old may go'
done_with beta passed; by_person alpha 'old may go'; once beta
[ "$(attempts beta)" = 1 ] || no "beta needed $(attempts beta) attempts"
q story '"old" in str(r["attempts"][-1]["evidence"]["facts"]["knownRed"])' beta | grep -q True || no "old is not named as known red of beta's base: $(q story 'r["attempts"][-1]["evidence"]["facts"]["knownRed"]' beta)"
ok
