# expect: a default ACL of plain 0700/0600 rights makes rewritten files come out with odd modes though no ACL shows on them
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, struct, sys
N = 0xffffffff
a = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *x) for x in ((1, 6, N), (4, 0, N), (32, 0, N)))
for p in (".", "src"):
    try: os.setxattr(p, "system.posix_acl_default", a)
    except OSError: sys.exit(77)
os.unlink("src/d.txt")
os.unlink("README.md")
P
