# expect: a write through a shared mapping, made after the times were put back, is missed
command -v python3 >/dev/null 2>&1 || exit 77
python3 - <<'P'
import mmap, os
for p in ("src/a.txt", "src/deep/er/y.txt"):
    st = os.stat(p)
    fd = os.open(p, os.O_RDWR)
    m = mmap.mmap(fd, st.st_size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[0:1] = b"M"                                     # page is dirty from here on
    os.utime(p, ns=(st.st_atime_ns, st.st_mtime_ns))
    m[0:1] = b"N"                                     # no fault, so no new mtime
    os.close(fd)
    m.close()
P
