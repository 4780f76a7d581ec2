# a shell that carries the marks of a run: refused; without them it works
. "$(dirname "$0")/../lib.sh"
skipped_alpha
for v in LOOPWRIGHT_RUN_ID=run_${ID}_0001-1-implement-1 "LOOPWRIGHT_LOOP_ID=$ID LOOPWRIGHT_STORY_ID=alpha LOOPWRIGHT_ATTEMPT=1 LOOPWRIGHT_ROLE=implementor LOOPWRIGHT_STAGE=implement LOOPWRIGHT_RUN_ID=run_${ID}_0001-1-implement-1"; do
  export $v; refused accept "$ID" alpha --reason 'from inside'; for x in $v; do unset "${x%%=*}"; done; done
must accept "$ID" alpha --reason 'from outside'; done_with alpha passed; by_person alpha 'from outside'
ok
