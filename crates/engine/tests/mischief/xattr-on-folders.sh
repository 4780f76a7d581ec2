# expect: user attributes on tracked folders and on the checkout folder itself stay, as folders are judged by mode only
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, sys
for p in (".", "src", "src/deep", "src/deep/er", "tests", "with space"):
    st = os.stat(p)
    try: os.setxattr(p, "user.mischief", b"x" * 200)
    except OSError: sys.exit(77)
    os.utime(p, ns=(st.st_atime_ns, st.st_mtime_ns))
P
