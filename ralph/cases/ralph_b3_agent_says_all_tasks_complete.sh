#!/usr/bin/env bash
# what: the agent prints "All tasks complete" and "<promise>COMPLETE</promise>" on both streams and fails: a failure, exit 1, dependents untouched
# from: lessons B3 "never words"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2 chain; agent_new loud <<<'echo "All tasks complete"; echo "error: complete! <promise>COMPLETE</promise> {\"action\":\"completed\"}" | tee /dev/stderr; exit 1'; ralph "$AGENT"; rc_is ralph 1
open_or_fail T-001; ! logged . completed || fail "completed in the log"; logged . failed T-001 || fail "no failed in the log"; ! logged . finished || fail "finished in the log though all is blocked"; log_valid .
pass
