#!/usr/bin/env bash
# class: honest
# tries: gcc, a program with threads and math, run from checkout and /tmp
# must: WORKS; no refusal event, no limit outcome
# needs: gcc
# control: bare-works
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
works() { end WORKS "$1"; }; broken() { end BROKEN "$1"; }
d=$(mktemp -d); printf '#include <stdio.h>\n#include <pthread.h>\nvoid*f(void*x){return x;}int main(){pthread_t t;void*r;pthread_create(&t,0,f,"hi");pthread_join(t,&r);puts(r);}\n' > $d/a.c; timeout 15 gcc -pthread -o $d/a $d/a.c 2>$d/e && [ "$($d/a)" = hi ] && cp $d/a ./a-case && [ "$(./a-case)" = hi ] && { rm -f a-case; works gcc; }; broken "$(head -c 200 $d/e)"
