#!/usr/bin/env bash
# what: --prompt-command 'loopwright task next' (what the justfile's `prompt` does) goes through the whole graph with claims as without it
# from: "such as `just prompt`"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 3 chain; good_agent; ralph "$AGENT" --prompt-command "$LOOPWRIGHT task next" --max-iterations 6; rc_is ralph 0; for i in 1 2 3; do complete_or_fail T-00$i; done; [ "$(n_marked 'start .*')" = 3 ] || fail "$(n_marked 'start .*') agents for 3 tasks"
pass
