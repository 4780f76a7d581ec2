#!/usr/bin/env bash
# what: a description of 300 KB with quotes, $(…), backticks and unicode reaches the agent on stdin unharmed, and stdin ends
# from: "prompt to the agent"
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; body=$(printf 'x%.0s' $(seq 100)); graph_new; node T-001; graph_text | sed '/description: "Do the work/d' >task-graph.yaml; { printf '    description: |\n      (own:T-001:nwo) $(touch %s/pwned) `id` "q" ö 🚀\n' "$SCENE"; for i in $(seq 3000); do echo "      $i $body"; done; printf '      LAST-LINE\n'; } >"$SCENE/desc"; sed -i "/story: S-001/r $SCENE/desc" task-graph.yaml
agent_new reader <<<'printf "%s" "$prompt" >"$SCENE/got"; complete; exit 0'; ralph "$AGENT" --once; rc_is ralph 0; grep -qF '$(touch' "$SCENE/got" && grep -q LAST-LINE "$SCENE/got" && grep -qF '🚀' "$SCENE/got" || fail "the prompt was changed or cut: $(wc -c <"$SCENE/got") bytes"; [ ! -e "$SCENE/pwned" ] || fail "the description was run by a shell"
pass
