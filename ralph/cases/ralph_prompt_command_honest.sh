#!/usr/bin/env bash
# what: --prompt-command is asked instead of `task next`: 0 with a prompt → the agent gets exactly that text; 1 all complete → exit 0
# from: "--prompt-command CMD (any command as prompt source with the same exit codes, such as `just prompt`)"
# sure: yes (text handed over, end with 0); by what the task is known then: no
. "$(dirname "$0")/lib.sh"
scene 1; good_agent; sed -i 's|^mark "start|printf "%s" "$prompt" >"$SCENE/got-prompt"; &|' "$AGENT"
cat >"$SCENE/bin/prompts" <<'X'
#!/usr/bin/env bash
if grep -q '^done T-001 0' "$MARKS"; then echo "All tasks complete" >&2; exit 1; fi
printf 'You are implementing it.\n\nYour task: T-001 - Work on T-001\n\n(own:T-001:nwo) "quotes" $HOME `x`\n'
X
chmod +x "$SCENE/bin/prompts"; export MARKS; ralph "$AGENT" --prompt-command "$SCENE/bin/prompts" --max-iterations 4; rc_is ralph 0; [ "$(n_marked 'start .*')" = 1 ] || fail "$(n_marked 'start .*') agents"; grep -qF '(own:T-001:nwo) "quotes" $HOME `x`' "$SCENE/got-prompt" || fail "the agent got another text: $(head -c 200 "$SCENE/got-prompt")"; complete_or_fail T-001
pass
