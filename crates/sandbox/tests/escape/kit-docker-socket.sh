#!/usr/bin/env bash
# class: kit
# tries: sockets of engines and desktops
# must: HELD
# control: none
out=$( {
ls /var/run/docker.sock /run/docker.sock /run/podman /run/user /run/dbus /run/systemd 2>/dev/null | grep -q . && echo GOT
} 2>&1 )
case "$out" in
*GOT*) echo "ESCAPED: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
*) echo "HELD: $(printf '%s' "$out" | tr -s '\n\r\t' '   ' | cut -c1-300)" ;;
esac
