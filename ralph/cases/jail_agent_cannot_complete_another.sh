#!/usr/bin/env bash
# what: hostile: from its jail the agent completes, forces, resets, claims and releases other tasks, also with another state folder, another cwd, and by writing requests of its own: only the task that it holds can change
# from: "A jailed agent can complete only the task that it holds"
# sure: yes. Wants a real jail.
. "$(dirname "$0")/lib.sh"
scene 3; jail_agent <<'A'
[ "$id" = T-001 ] || exit 1
for v in "complete T-002" "complete T-002 --force" "claim T-002" "reset T-002" "release T-002" "complete T-003"; do "$LW" task $v >>tries 2>&1; mark "try $v: $?"; done
for s in "$PWD/fake" "$HOME"; do LOOPWRIGHT_STATE=$s XDG_STATE_HOME=$s "$LW" task complete T-002 --force >>tries 2>&1; done
(cd / && "$LW" task complete T-003 --force) >>tries 2>&1
for d in $(env | sed -n 's/^LOOPWRIGHT[A-Z_]*=\(\/.*\)/\1/p') /run/lw /run/loopwright; do [ -d "$d" ] || d=$(dirname "$d"); for f in "$d"/*; do [ -f "$f" ] && sed "s/T-001/T-002/g" "$f" >"$d/forged-$$" 2>/dev/null; done; printf '{"verb":"complete","task":"T-002","id":"T-002"}\n' >"$d/request-T-002.json" 2>/dev/null; done
sed -i 's/status: .*/status: complete/' task-graph.yaml
exit 1
A
ralph "$AGENT" --once; git checkout -q -- task-graph.yaml; for i in 2 3; do open_or_fail T-00$i "completed from a jail that holds T-001"; persona p$i; by p$i "$REPO" task claim T-00$i; rc_is "T-00$i is still free" 0; done; open_or_fail T-001
pass
