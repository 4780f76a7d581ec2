#!/usr/bin/env bash
# class: honest
# tries: nested bash with background jobs, wait, kill, trap, timeout, process groups, an own pty by script or python
# must: WORKS; no refusal event, no limit outcome
# control: bare-works
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
works() { end WORKS "$1"; }; broken() { end BROKEN "$1"; }
o=$(timeout 10 bash -c 'set -m; sleep 30 & p=$!; (exit 3) & wait $!; a=$?; kill %1; wait $p; trap "echo t" USR1; kill -USR1 $$; timeout 1 sleep 5; echo $a $?' 2>/dev/null | tr '\n' ' '); [ "$o" = "t 3 124 " ] || broken "jobs: $o"
timeout 8 python3 -c 'import pty,os; p,f=pty.fork()
if p==0: os.execvp("tty",["tty"])
assert b"/dev/pts" in os.read(f,99)' || broken "own pty"; works "job control and own pty"
