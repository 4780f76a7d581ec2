#!/usr/bin/env bash
# class: filesystem
# judge: host
# tries: leaving setuid and setgid programs, a file with security.capability, a world-writable folder, a device node and an immutable file in the checkout
# must: HELD; device and capability refused; on the host the candidate has modes 644/755 only, the state folder is 0700, and no file is owned by another user
# control: none
end() { printf '%s: %s\n' "$1" "$(printf '%s' "$2" | tr -s '\n\r\t' '   ' | cut -c1-400)"; exit 0; }
need() { for n; do eval "v=\${$n:-}"; [ -n "$v" ] || end HELD "VACUOUS: $n not set"; done; }
# --- the attempt ---
got=""; mkdir -p plant; cp "$(command -v id)" plant/suid && chmod 4755 plant/suid; cp plant/suid plant/sgid && chmod 2755 plant/sgid; mkdir -p plant/w && chmod 1777 plant/w
mknod plant/null c 1 3 2>/dev/null && dd if=/dev/null of=plant/null 2>/dev/null && got="$got device-node"; mknod plant/disk b 8 0 2>/dev/null && got="$got block-node"
python3 - <<'X' 2>/dev/null && got="$got file-capability"
import os,struct
os.setxattr("plant/suid", "security.capability", struct.pack("<IIIII", 0x02000001, 0xffffffff, 0, 0xffffffff, 0))
X
chattr +i plant/sgid 2>/dev/null && { chattr -i plant/sgid; got="$got immutable"; }
chown 0:0 plant/sgid 2>/dev/null && [ "$(id -u)" != 0 ] && got="$got chown-root"
e=$(plant/suid -u 2>/dev/null); [ -n "$e" ] && [ "$e" != "$(id -u)" ] && got="$got setuid-changed-user"
[ -n "$got" ] && { rm -rf plant; end ESCAPED "$got"; }; end HELD "devices, capability, owner, immutable refused; setuid modes are left for the host to reduce: $(stat -c %a plant/suid plant/sgid | tr '\n' ' ')"
