# stories without a candidate: pending, blocked, skipped by hand before any work: refused, also with a reason
. "$(dirname "$0")/../lib.sh"
project_with alpha beta gamma:beta; hold alpha; start; wait_call 'alpha 1 implement'
refused accept "$ID" gamma --reason x; refused accept "$ID" alpha --reason x; must skip "$ID" beta; refused accept "$ID" beta --reason x
release alpha; done_with alpha passed; refused accept "$ID" beta --reason x; refused accept "$ID" gamma --reason x; never beta; never gamma
ok
