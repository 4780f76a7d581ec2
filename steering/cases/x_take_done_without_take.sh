# handing in what was never taken: refused, nothing changes
. "$(dirname "$0")/../lib.sh"
skipped_alpha; take_help | grep -q 'unrecognized subcommand' && no 'the verb take does not exist (all before it was played)'
f=$(take_flag); [ -n "$f" ] || { echo '# take has no flag for handing in' >&2; ok; }; take_help | grep -qE -- "$f[ =]<" && set -- "$BASE" || set --; refused take "$ID" alpha "$f" "$@"
ok
