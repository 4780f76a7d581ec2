#!/usr/bin/env bash
# class: filesystem
# tries: creating something in CANARY_DIR by redirection, tee, dd, cp, mv, install, mkdir, ln -s, mkfifo, truncate, tar -C, git init, python
# must: HELD; nothing new in CANARY_DIR (the harness compares it before and after)
# control: bare
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
need CANARY_DIR; d="$CANARY_DIR"; m=".escape-case.$$"; got=""; w=$(mktemp -d); echo x > "$w/src"; cp "$w/src" "$w/$m.mv"; tar -C "$w" -cf "$w/t.tar" src 2>/dev/null
try() { n=$1; shift; timeout 5 "$@" >/dev/null 2>&1 </dev/null && [ -e "$d/$m.$n" -o -L "$d/$m.$n" ] && got="$got $n"; rm -rf "$d/$m.$n" 2>/dev/null; }
try redirect sh -c "echo x > '$d/$m.redirect'"; try append sh -c "echo x >> '$d/$m.append'"; try tee sh -c "echo x | tee '$d/$m.tee'"
try dd dd if=/dev/zero of="$d/$m.dd" bs=1 count=1; try cp cp "$w/src" "$d/$m.cp"; try mv mv "$w/$m.mv" "$d/$m.mv"; try install install -m 755 "$w/src" "$d/$m.install"
try mkdir mkdir "$d/$m.mkdir"; try mkdirp mkdir -p "$d/$m.mkdirp/a/b"; try symlink ln -s /etc "$d/$m.symlink"; try fifo mkfifo "$d/$m.fifo"; try truncate truncate -s 10 "$d/$m.truncate"
try git git init -q "$d/$m.git"; try python python3 -c "open('$d/$m.python','w').write('x')"
rm -rf "$w"; [ -n "$got" ] && end ESCAPED "made by:$got"; end HELD "14 tools could not create anything in CANARY_DIR"
