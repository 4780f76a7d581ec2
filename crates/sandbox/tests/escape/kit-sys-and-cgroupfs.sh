#!/usr/bin/env bash
# class: kit
# tries: the file systems of kernel objects and control groups
# must: HELD
# control: bare
out=$( {
ls -d /sys/fs/cgroup/* /sys/kernel/* 2>/dev/null | grep -q . && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
