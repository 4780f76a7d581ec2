#!/usr/bin/env bash
# what: the owner is dead and its pid belongs to a stranger now: the claim is still that of a dead process
# from: "leases with owner, pid, host"; a pid alone is no identity
# sure: yes
. "$(dirname "$0")/lib.sh"
scene 1; idle_agent; ralph_bg "$AGENT"; first=$PID; wait_for "the first agent" 15 test -s "$SCENE/agent.pid"
kill -KILL "$first"; wait_pid "$first" 5
got=
for i in $(seq 40); do { echo $((first - 1)) >/proc/sys/kernel/ns_last_pid; } 2>/dev/null || break; sleep 55 & p=$!; if [ "$p" = "$first" ]; then got=$p; PIDS+=("$p"); break; fi; kill "$p" 2>/dev/null; wait "$p" 2>/dev/null; done
if [ -z "$got" ]; then # no right to choose the pid: fork until the numbers come round
  cat >"$SCENE/bin/forks" <<'X'
#!/usr/bin/perl
my $want = shift; my $end = time + 20; $SIG{CHLD} = 'IGNORE';
while (time < $end) { my $p = fork; die unless defined $p; if (!$p) { if ($$ == $want) { open F, ">$ENV{SCENE}/reused"; print F $$; close F; sleep 50 } exit 0 } last if -e "$ENV{SCENE}/reused" }
X
  chmod +x "$SCENE/bin/forks"; timeout 22 "$SCENE/bin/forks" "$first"; [ -s "$SCENE/reused" ] && got=$first
fi
[ -n "$got" ] || note "the pid could not be made to come again here; only the plain take-over is shown"
good_agent; end=$((SECONDS + 15))
while :; do ralph "$AGENT" --max-iterations 2; is_complete T-001 && break; [ $SECONDS -lt $end ] || fail "the claim of dead pid $first (now a stranger's) is never given up"; sleep 1; done
[ -z "$got" ] || alive "$got" || fail "the stranger that has the old pid was killed"
pass
