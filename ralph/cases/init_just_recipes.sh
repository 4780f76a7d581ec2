#!/usr/bin/env bash
# what: `init --just` writes a justfile with the six recipes; the ones with an id take one; where `just` is there they run
# from: "`init --just` writes a `justfile` with `ralph`, `prompt`, `task-complete`, `task-reset`, `dag-status`, `dag-refresh`"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 2; lw init --just; rc_is "init --just" 0; [ -s justfile ] || fail "no justfile"; for r in ralph prompt task-complete task-reset dag-status dag-refresh; do grep -qE "^@?$r( [^:]*)?:" justfile || fail "no recipe $r"; done; for r in task-complete task-reset; do grep -qE "^@?$r +[+*]?[a-zA-Z]" justfile || fail "$r takes no id"; done
same_file "$SCENE/graph.before" task-graph.yaml
if command -v just >/dev/null; then timeout 20 just prompt >"$SCENE/io/jp" 2>"$SCENE/io/jpe" </dev/null || fail "just prompt: $(head -c 200 "$SCENE/io/jpe")"; [ "$(token_of "$SCENE/io/jp")" = T-001 ] || fail "just prompt does not print the prompt"; timeout 20 just task-complete T-001 >/dev/null 2>&1 </dev/null || fail "just task-complete"; complete_or_fail T-001; timeout 20 just task-reset T-001 >/dev/null 2>&1 </dev/null || fail "just task-reset"; open_or_fail T-001; timeout 20 just dag-status 2>&1 </dev/null | grep -q T-001 || fail "just dag-status"; else note "no just here"; fi
pass
