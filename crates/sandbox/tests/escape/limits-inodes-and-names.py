#!/usr/bin/env python3
# class: limits
# tries: LIMIT_INODES (20000) + 10 % empty files with 200-byte names and as many hard links, a path longer than PATH_MAX, held for 5 s
# must: ENOSPC or killed, or afterwards a typed outcome with the count; the host's walk is bounded
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
want = min(int(E("LIMIT_INODES", "20000")), 200000) * 11 // 10; n = 0; why = ""; os.makedirs("many", exist_ok=True); d = os.open("many", os.O_RDONLY)
try:
    for i in range(want):
        os.close(os.open("%0200d" % i, os.O_CREAT | os.O_WRONLY, dir_fd=d)); n += 1
        if time.time() % 1 < 0 or i > 10 and signal.getitimer(signal.ITIMER_REAL)[0] < 9: why = "own time limit"; break
    for i in range(30): os.mkdir("d" * 250, dir_fd=d); d = os.open("d" * 250, os.O_RDONLY, dir_fd=d)
    time.sleep(5)
except OSError as e: why = en(e.errno)
end(n >= want, "%d files %s" % (n, why))
