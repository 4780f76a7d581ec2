#!/usr/bin/env bash
# what: --on-failure retry:2: two more tries; success at the third is complete; with always failing exactly three tries, then kept
# from: "retry:N"
# sure: yes (1 + N tries)
. "$(dirname "$0")/lib.sh"
scene 2; agent_new third <<<'[ "$id" = T-002 ] && exit 4; echo x >>"$SCENE/tries"; [ "$(wc -l <"$SCENE/tries")" -lt 3 ] && exit 3; complete; exit 0'; ralph "$AGENT" --on-failure retry:2; rc_is "ralph (T-002 failed)" 1
complete_or_fail T-001; [ "$(n_marked 'start T-001 .*')" = 3 ] || fail "T-001: $(n_marked 'start T-001 .*') tries"; [ "$(n_marked 'start T-002 .*')" = 3 ] || fail "T-002: $(n_marked 'start T-002 .*') tries, expected 3"; open_or_fail T-002
pass
