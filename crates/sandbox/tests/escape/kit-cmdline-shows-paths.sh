#!/usr/bin/env bash
# class: kit
# tries: paths of the host on command lines of other processes
# must: HELD
# control: bare
out=$( {
for p in /proc/[0-9]*; do
  [ $p = /proc/$$ ] && continue
  while IFS= read -r -d '' word; do [[ $word == *"$STATE_DIR"* ]] && echo GOT; done < $p/cmdline
done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
