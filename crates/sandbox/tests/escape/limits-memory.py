#!/usr/bin/env python3
# class: limits
# tries: touching LIMIT_MEM_MB (256) + 25 % as anonymous memory, then as memfd and shared mapping (which rlimits miss), then as files in /dev/shm
# must: killed or refused; typed outcome "memory", told to the next attempt; the host does not swap
# needs: the run is configured with the limit that the LIMIT_ variable names (small values make the case cheap)
# ends: may be killed without a final line; the outcome then is the typed limit
# control: bare
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
import mmap
mb = min(int(E("LIMIT_MEM_MB", "256")), 2048); want = mb + mb // 4; res = []
def anon():
    m = mmap.mmap(-1, want << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for i in range(0, want << 20, 4096): m[i] = 1
    return "ATE"
def memfd():
    fd = os.memfd_create("x"); os.ftruncate(fd, want << 20); m = mmap.mmap(fd, want << 20)
    for i in range(0, want << 20, 4096): m[i] = 1
    return "ATE"
def shm():
    p = "/dev/shm/.escape-case-%d" % os.getpid(); f = open(p, "wb"); os.unlink(p)
    for i in range(want): f.write(b"x" * (1 << 20))
    f.flush(); return "ATE"
for n, f in (("anonymous", anon), ("memfd", memfd), ("/dev/shm", shm)): res.append((n, child(f, 5)))
end(any(o == "ATE" for n, o in res), "%d MB: %s" % (want, res))
