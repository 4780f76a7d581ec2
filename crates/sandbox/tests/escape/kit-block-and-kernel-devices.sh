#!/usr/bin/env bash
# class: kit
# tries: devices of the host, present or made
# must: HELD
# control: bare
out=$( {
ls /dev/vda /dev/sda /dev/mem /dev/kmsg /dev/kvm /dev/fuse /dev/net/tun /dev/vsock 2>/dev/null | grep -q . && echo GOT; mknod d b 254 0 && echo GOT; rm -f d
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
