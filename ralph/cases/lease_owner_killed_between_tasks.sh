#!/usr/bin/env bash
# what: ralph is killed -9 again and again while it works through six tasks; the next ralph always goes on; each task is done once
# from: done-when: random kill -9s of loops
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 6 chain; agent_new quick <<<'sleep 0.3; complete; exit 0'; delay=(0.5 1.1 0.8 1.6 1.3 0.6)
for d in "${delay[@]}"; do ralph_bg "$AGENT" --on-failure retry:5; p=$PID; sleep "$d"; kill -KILL "$p" 2>/dev/null; wait_pid "$p" 5; done
end=$((SECONDS + 30))
while :; do ralph "$AGENT" --on-failure retry:5; is_complete T-006 && break; [ $SECONDS -lt $end ] || fail "the chain is not finished after the kills"; sleep 1; done
for i in 1 2 3 4 5; do complete_or_fail "T-00$i"; done; never_again_after_done
awk '$1=="done"&&$3==0{print $2}' "$MARKS" | awk '!s[$0]++' >"$SCENE/io/order"; sort -c "$SCENE/io/order" 2>/dev/null || fail "order violated: $(tr '\n' ' ' <"$SCENE/io/order")"
pass
