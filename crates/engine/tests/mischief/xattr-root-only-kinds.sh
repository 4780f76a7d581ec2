# expect: trusted.* attributes (also on a symlink) and file capabilities on run.sh stay
[ "$(id -u)" = 0 ] || exit 77
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import os, struct, sys
try:
    os.setxattr("src/a.txt", "trusted.mischief", b"1")
    os.setxattr("link", "trusted.mischief", b"1", follow_symlinks=False)
    os.setxattr("src", "trusted.overlay.opaque", b"y")
    os.setxattr("run.sh", "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
except OSError: sys.exit(77)
P
