# stories that were blocked by the accepted one go on, also after the loop's end (judge said no, facts green)
. "$(dirname "$0")/../lib.sh"
ALPHA=good JUDGE=fail skipped_alpha alpha beta:alpha
must accept "$ID" alpha; done_with beta passed; by_person alpha; once beta
ok
