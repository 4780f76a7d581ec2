# a retry that fails again ends as skipped again; the first candidate stays as it was
. "$(dirname "$0")/../lib.sh"
skipped_alpha; d=$(q diff 'r["patch"]' alpha --attempt 1); [ -n "$d" ] || no 'no first candidate'
must retry "$ID" alpha --hint 'try harder'
wait_call 'alpha ([2-9]|1[0-9]) implement'; done_with alpha skipped; never alpha
[ "$(attempts alpha)" -ge 2 ] || no "attempts: $(attempts alpha)"
[ "$(q diff 'r["patch"]' alpha --attempt 1)" = "$d" ] || no 'attempt 1 shows something else now'
grep -qF 'try harder' "$T"/prompts/alpha.2.implement.* || no 'the hint is not in the prompt'
[ "$(prd alpha skipped)" = True ] || no 'the PRD does not say skipped'
ok
