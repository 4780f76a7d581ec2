#!/usr/bin/env bash
# class: kit
# tries: changing the root folder
# must: HELD
# control: bare
out=$( {
mkdir -p c; python3 -c "import os; os.chroot(\"c\"); print(\"GOT\")"
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
