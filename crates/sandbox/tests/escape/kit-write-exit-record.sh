#!/usr/bin/env bash
# class: kit
# tries: writing an exit record into the run folder
# must: HELD
# control: bare
out=$( {
for f in "$STATE_DIR/run2/exit.json" ../exit.json /exit.json; do (echo "{}" > "$f") && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
