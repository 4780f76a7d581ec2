#!/usr/bin/env python3
# class: stdio
# tries: reopening stdin for writing through /proc/self/fd/0, /dev/stdin, /run/lw/stdin; chmod; writing to a two-way stdin
# must: HELD: EROFS, EACCES or a pipe; prompt.md on the host is byte-identical
# control: bare
# control-needs: stdin is a regular file of the harness, opened read-only
import ctypes, errno, os, platform, signal, sys, time
def end(ok, why):
    sys.stdout.flush(); os.write(1, (("ESCAPED: " if ok else "HELD: ") + " ".join(str(why).split())[:400] + "\n").encode("utf-8", "replace")); os._exit(0)
signal.signal(signal.SIGALRM, lambda *a: end(False, "VACUOUS: own time limit")); signal.alarm(18)
E = os.environ.get
def need(*names):
    for n in names:
        if not E(n): end(False, "VACUOUS: %s not set" % n)
    return E(names[0])
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
def nr(x86, arm): return x86 if platform.machine() == "x86_64" else arm
def sc(n, *a):
    ctypes.set_errno(0); r = libc.syscall(ctypes.c_long(n), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a]); return r, ctypes.get_errno()
def en(e): return errno.errorcode.get(e, str(e))
def child(fn, wait=6):
    """runs fn in a forked child; its returned text, or how it died"""
    r, w = os.pipe(); p = os.fork()
    if p == 0:
        signal.alarm(int(wait)); signal.signal(signal.SIGALRM, signal.SIG_DFL); os.close(r)
        try: t = fn()
        except BaseException as e: t = "error %s" % e
        os.write(w, str(t).encode()); os._exit(0)
    os.close(w); d = b""
    while True:
        b = os.read(r, 65536)
        if not b: break
        d += b
    os.close(r); _, st = os.waitpid(p, 0)
    return d.decode("utf-8", "replace") if d else ("killed by signal %d" % os.WTERMSIG(st) if os.WIFSIGNALED(st) else "no answer")
def host_visible(): return bool(E("HOST_PID")) and os.path.isdir("/proc/%s/task" % E("HOST_PID"))
# --- the attempt ---
import stat
got, errs = [], set(); st = os.fstat(0); first = os.pread(0, 1, 0) if stat.S_ISREG(st.st_mode) else b""
for p in ("/proc/self/fd/0", "/dev/stdin", "/proc/thread-self/fd/0", "/run/lw/stdin"):
    try:
        m = os.stat(p).st_mode
        if not stat.S_ISREG(m): continue
        fd = os.open(p, os.O_RDWR); got.append(p + " opens for writing")
        if first: os.pwrite(fd, first, 0)
        os.close(fd)
    except OSError as e: errs.add(en(e.errno))
    try: os.chmod(p, m & 0o7777); got.append("chmod " + p)
    except OSError as e: errs.add(en(e.errno))
if stat.S_ISSOCK(st.st_mode) or os.isatty(0): got.append("stdin is two-way")
end(bool(got), "; ".join(got[:4]) if got else "kind %o; %s" % (stat.S_IFMT(st.st_mode), sorted(errs)))
