#!/usr/bin/env bash
# class: kit
# tries: replacing the bridge to the proxy
# must: HELD
# control: none
out=$( {
rm -f /run/lw/net; mv /run/lw/net /tmp/; chmod 777 /run/lw/net && echo GOT; test -S /run/lw/net || echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
