# expect: user attributes on otherwise right files (also mtime put back) stay
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, sys
for p in ("README.md", "src/a.txt", "src/b.txt", "run.sh", "empty.txt", "src/deep/er/x.txt"):
    st = os.stat(p)
    try: os.setxattr(p, "user.mischief", b"was here")
    except OSError: sys.exit(77)
    os.utime(p, ns=(st.st_atime_ns, st.st_mtime_ns))
P
