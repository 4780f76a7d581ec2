# skip while the judge looks at a green candidate: a judge who says PASS afterwards lands nothing
. "$(dirname "$0")/../lib.sh"
project_with alpha beta; hold judge; start; wait_call 'alpha 1 judge'; lw skip "$ID" alpha; rc=$RC; release judge; done_with beta passed
if [ $rc = 0 ]; then is_state alpha skipped || no "skip said yes and alpha is $(state alpha)"; never alpha; else is_state alpha passed || no "skip was refused and alpha is $(state alpha)"; fi
ok
