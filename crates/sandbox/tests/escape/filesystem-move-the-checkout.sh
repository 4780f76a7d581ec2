#!/usr/bin/env bash
# class: filesystem
# judge: host
# tries: renaming, removing or replacing /workspace, its parent, the mounted HOME and the stdin and socket files of the jail by links, and making the checkout's root unreadable (mode 000) at the end
# must: HELD: EBUSY or EROFS; the host still takes the candidate or gives an outcome with a reason, and clean removes it
# control: none
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
w=$(pwd -P); got=""; [ "$w" = /workspace ] || [ -n "${FORCE:-}" ] || end HELD "VACUOUS: only inside a jail at /workspace"
mv "$w" /tmp/moved 2>/dev/null && got="$got moved"; rmdir "$w" 2>/dev/null && got="$got removed"; ln -sfn /etc "${w}.new" 2>/dev/null && got="$got beside"; mv "$HOME" /tmp/h 2>/dev/null && got="$got home"
for f in /run/lw/stdin /run/lw/shim /run/lw; do [ -e $f ] && { mv $f /tmp/ 2>/dev/null && got="$got $f"; (: >> $f) 2>/dev/null && [ -f $f ] && got="$got append:$f"; }; done
touch ../beside-checkout 2>/dev/null && got="$got parent-writable"; chmod 000 . 2>/dev/null
[ -n "$got" ] && end ESCAPED "$got"; end HELD "mount points stay; the checkout's root has mode 000 now"
