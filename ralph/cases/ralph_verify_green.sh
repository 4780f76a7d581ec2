#!/usr/bin/env bash
# what: checks green: the task is complete, also when the agent only worked and ended with 0 ("or the verify step did it"); an agent that fails is not completed by green checks
# from: "or the verify step did it"
# sure: no (that verify completes what the agent did not claim to have completed); the last sentence: yes
. "$(dirname "$0")/lib.sh"
scene 3; project_check . 'sh check.sh'; printf 'test -f green\n' >check.sh; : >green; commit_all .; agent_new worker <<<'[ "$id" = T-002 ] && exit 5; [ "$id" = T-003 ] && complete; echo x >"made-$id"; exit 0'; ralph "$AGENT" --verify
complete_or_fail T-003; complete_or_fail T-001 "agent ended well and checks are green"; open_or_fail T-002 "its agent failed"
pass
