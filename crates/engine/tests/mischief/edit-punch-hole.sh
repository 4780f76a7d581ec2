# expect: a hole punched into a file (size the same, text now zero bytes) with mtime put back is missed
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if not hasattr(libc, "fallocate"): sys.exit(77)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
for p in ("src/d.txt", "README.md"):
    st = os.stat(p)
    fd = os.open(p, os.O_RDWR)
    if libc.fallocate(fd, 3, 0, st.st_size) != 0:     # KEEP_SIZE | PUNCH_HOLE
        sys.exit(77)
    os.close(fd)
    os.utime(p, ns=(st.st_atime_ns, st.st_mtime_ns))
P
