#!/usr/bin/env bash
# class: honest
# tries: chmod 600, 755, 444, umask, rename, links, xattr-less copies, mtime; without sudo
# must: WORKS; no refusal event, no limit outcome
# control: bare-works
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
works() { end WORKS "$1"; }; broken() { end BROKEN "$1"; }
d=$(mktemp -d ./modes.XXXXXX); cd $d; echo x > a; chmod 600 a; [ $(stat -c %a a) = 600 ] && chmod 755 a && [ -x a ] && (umask 077; echo y > b) && [ $(stat -c %a b) = 600 ] && mv b c && ln a h && ln -s a s && [ "$(cat s)" = x ] && touch -d 2020-01-01 a && cp -a a k && [ $(stat -c %u a) = $(id -u) ] && { cd ..; rm -rf $d; works modes; }; broken modes
