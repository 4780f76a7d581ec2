#!/usr/bin/env bash
# what: hostile: an agent that works well and prints "429 rate limit exceeded, try again at 9 PM" is not limited; a failing plain command that mentions it is at worst waited for, never complete
# from: lessons C3 "a word in the output taken for a limit"
# sure: yes (first half)
. "$(dirname "$0")/lib.sh"
scene 2; agent_new talker <<<'echo "API Error: 429 rate_limit_error; Claude AI usage limit reached|1794790000; try again at 9:26 PM" | tee /dev/stderr; complete; exit 0'; ralph "$AGENT"; rc_is ralph 0; ! logged . rate_limited || fail "taken for a limit"; complete_or_fail T-002
pass
