#!/usr/bin/env bash
# class: kit
# tries: seeing a process of the host
# must: HELD
# control: bare
out=$( {
test -d "/proc/$HOST_PID/task" && tr "\0" " " < "/proc/$HOST_PID/cmdline" | grep -q . && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
