#!/usr/bin/env bash
# what: the agent completes its task and then ends with 1: the store says complete, so it is complete and is not done again
# from: "A task is complete when the store says so"
# sure: yes (complete); how the log calls it: no
. "$(dirname "$0")/lib.sh"
scene 2; agent_new grumpy <<<'complete; exit 1'; ralph "$AGENT" --on-failure retry:3; complete_or_fail T-001; complete_or_fail T-002; [ "$(n_marked 'start .*')" = 2 ] || fail "started $(n_marked 'start .*') times"; never_again_after_done
pass
