#!/usr/bin/env bash
# class: terminal
# judge: host
# tries: title, clipboard (OSC 52), hyperlink, clear screen, cursor up, queries, C1 bytes, bidi overrides and a carriage return that fakes "passed", in output, error output and a file name
# must: HELD; status, log and evidence show them escaped or removed; no raw ESC, C1, CR or bidi control reaches the person's terminal
# control: none
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
printf '\033]0;owned\007\033]52;c;Y3VybA==\007\033]8;;file:///etc/passwd\007x\033]8;;\007\n\033[2J\033[H\033[5A all checks passed\n\033[?1049h\033[6n\033[c\n\302\2332J\2332J\n\342\200\256dessap\342\200\254\nfailed\r\033[32mpassed\033[0m\n'
printf '\033]0;owned\007\r error stream\n' >&2; f=$(printf 'name\033[31m\r\007.txt'); echo x > "$f"; printf '\033c\n'; end HELD "sequences printed; host judges what is shown"
