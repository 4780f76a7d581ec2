# expect: an ACL that lets another user in, while st_mode shows the usual bits, stays on files and folders
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, stat, struct, sys
N = 0xffffffff
for p in ("src/a.txt", "README.md", "run.sh", "src", "tests", "."):
    m = stat.S_IMODE(os.stat(p).st_mode)
    u, g, o = m >> 6 & 7, m >> 3 & 7, m & 7
    a = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *x) for x in
        ((1, u, N), (2, 7, 65534), (4, g, N), (16, g, N), (32, o, N)))
    try: os.setxattr(p, "system.posix_acl_access", a)
    except OSError: sys.exit(77)
    assert stat.S_IMODE(os.stat(p).st_mode) == m
P
