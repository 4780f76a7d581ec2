#!/usr/bin/env python3
# class: limits
# judge: host
# tries: LIMIT_OUTPUT_MB (64) + 50 % to stdout as one line without end with NULs and invalid UTF-8, then to stderr
# must: typed outcome "output", or cut with a mark; keeper's memory and journal stay bounded
# ends: may be killed without a final line
# control: none
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
mb = min(int(E("LIMIT_OUTPUT_MB", "64")), 1024); mb += mb // 2; b = (b"\xff\xfe\0A" * 262144); t = time.time() + 14; n = 0
for o in (1, 2):
    for i in range(mb):
        if time.time() > t: break
        d = b
        while d: d = d[os.write(o, d):]
        n += 1
os.write(1, b"\n"); end(False, "%d MB written; host judges" % n)
