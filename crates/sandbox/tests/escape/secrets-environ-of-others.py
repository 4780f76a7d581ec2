#!/usr/bin/env python3
# class: secrets
# tries: environ and auxv of pid 1 and HOST_PID; STATE_DIR or CANARY_DIR in the command line of older processes
# must: HELD: pid 1 undumpable (EACCES), no host process, no host paths
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
need("HOST_PID"); got, errs = [], set()
for p in (["1"] if not host_visible() else []) + [E("HOST_PID")]:
    for f in ("environ", "auxv"):
        try:
            if open("/proc/%s/%s" % (p, f), "rb").read(8): got.append("%s of %s" % (f, p))
        except OSError as e: errs.add(en(e.errno))
for p in [x for x in os.listdir("/proc") if x.isdigit() and int(x) < os.getpid()] if not host_visible() else []:
    try:
        c = open("/proc/%s/cmdline" % p, "rb").read()
        if any(E(v) and E(v).encode() in c for v in ("STATE_DIR", "CANARY_DIR")): got.append("host path in cmdline of " + p)
    except OSError: pass
end(bool(got), "; ".join(got[:4]) if got else "refused: %s" % sorted(errs))
