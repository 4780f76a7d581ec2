#!/usr/bin/env bash
# class: kit
# tries: writing to a tool cache that is mounted read-only
# must: HELD
# control: bare
out=$( {
for f in "$CACHE" /opt/cache/crate; do (echo evil > "$f") && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
