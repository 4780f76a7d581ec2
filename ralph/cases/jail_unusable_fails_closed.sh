#!/usr/bin/env bash
# what: no jail can be had (empty PATH for bwrap, podman, docker): ralph without --sandbox refuses with a remedy and starts no agent; --sandbox host goes on and says so
# from: "--sandbox"; issue 15's rule "never falls back"
# sure: no (the program may bring its own jail). Wants the default sandbox.
. "$(dirname "$0")/lib.sh"
scene 1; good_agent; keep=("${SANDBOX_ARGS[@]}"); SANDBOX_ARGS=(); mkdir "$SCENE/few"; for t in git bash sh cat sed head tr mkdir rm timeout grep env sleep setsid node npm; do q=$(command -v $t) && ln -s "$q" "$SCENE/few/$t"; done; old=$PATH; PATH="$SCENE/bin:$SCENE/few"; ralph "$AGENT" --once; PATH=$old
if marked 'start .*'; then printf %s "$OUT$ERR" | grep -qiE 'sandbox|jail' || fail "an agent ran without a word about the sandbox"; note "a jail was found without bwrap, podman, docker on PATH"; else [ "$RC" != 0 ] || fail "exit 0 without a jail and without an agent"; both_have 'sandbox|jail|bwrap' "the remedy"; offered; [ "$OFFER" = T-001 ] || fail "the claim was kept"; fi
SANDBOX_ARGS=("${keep[@]}"); : >"$MARKS"; lw task reset T-001; ralph "$AGENT" --once; marked 'start T-001 .*' || fail "--sandbox host does not run"; both_have 'host|without a sandbox|no sandbox|not sandboxed|unsandboxed' "the word that there is no jail"
pass
