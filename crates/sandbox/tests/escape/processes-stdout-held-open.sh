#!/usr/bin/env bash
# class: processes
# judge: host
# tries: the program ends at once but grandchildren keep stdout, stderr and stdin open for 15 s, so that a keeper that reads to the end of file waits
# must: the outcome is there within 3 s of the program's end, exit code 0
# control: none
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
setsid sh -c 'trap "" TERM HUP INT; sleep 15' & setsid -f sleep 15; end HELD "program ended, grandchildren hold the pipes; host judges the time"
