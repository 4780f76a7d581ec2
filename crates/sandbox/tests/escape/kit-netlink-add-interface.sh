#!/usr/bin/env bash
# class: kit
# tries: making a network interface and an address
# must: HELD
# control: none
out=$( {
ip link add x0 type dummy && echo GOT; ip addr add 10.0.0.1/8 dev lo && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
