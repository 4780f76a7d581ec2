# expect: default ACLs on folders stay, and all that is written anew below inherits them
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, struct, sys
N = 0xffffffff
def acl(*e): return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *x) for x in e)
a = acl((1, 7, N), (2, 7, 65534), (4, 5, N), (16, 7, N), (32, 7, N))
for p in (".", "src", "src/deep", "tests"):
    try: os.setxattr(p, "system.posix_acl_default", a)
    except OSError: sys.exit(77)
os.mkdir("src/inherits"); open("src/inherits/f", "w").close()
os.unlink("src/a.txt"); open("src/a.txt", "w").write("a\n")
P
