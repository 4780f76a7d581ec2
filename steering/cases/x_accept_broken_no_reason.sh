# an old test broken by the candidate is a red fact, though the story's own test is green
. "$(dirname "$0")/../lib.sh"
ALPHA=breaks skipped_alpha; refused accept "$ID" alpha; must accept "$ID" alpha --reason 'old is obsolete'; done_with alpha passed; by_person alpha 'old is obsolete'
ok
