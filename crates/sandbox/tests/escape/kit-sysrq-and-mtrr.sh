#!/usr/bin/env bash
# class: kit
# tries: opening kernel switches for writing
# must: HELD
# control: bare
out=$( {
for f in /proc/sysrq-trigger /proc/mtrr /proc/irq/default_smp_affinity; do python3 -c "import os,sys; os.open(sys.argv[1],os.O_WRONLY)" $f && echo GOT; done
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
