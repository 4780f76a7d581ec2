#!/usr/bin/env bash
# what: stdout of `task next` is what is piped to an agent: id, title, description, how to complete; with --json one envelope that names the task
# from: "prints the prompt; exit 0 a task"; design §10 "stdout is data, stderr is talk"
# sure: yes (that the prompt says `task complete T-001`: no, but an agent cannot know it otherwise)
. "$(dirname "$0")/lib.sh"
scene 2
lw task next; rc_is "task next" 0; out_has T-001 prompt; out_has "Work on T-001" prompt; out_has "(own:T-001:nwo)" prompt; out_has "task complete T-001" "prompt (how to complete)"
out_lacks "(own:T-002:nwo)" "the prompt of T-001"
lw task next --json; rc_is "task next --json" 0; json_ok; json_says T-001
pass
