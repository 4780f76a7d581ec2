#!/usr/bin/env python3
# class: filesystem
# tries: every /proc/PID/{root,cwd,fd/*,map_files/*} of every visible process but this one (pid 1 first) as a door to CANARY_SECRET_FILE
# must: HELD; the shim is undumpable (EACCES on its links), no host process is visible
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
f = need("CANARY_SECRET_FILE"); got = []; tried = 0
up = "/".join([".."] * 40)
pids = sorted((int(p) for p in os.listdir("/proc") if p.isdigit()))[:400]
for p in pids:
    if p == os.getpid(): continue
    doors = ["/proc/%d/root" % p, "/proc/%d/cwd/%s" % (p, up)]
    try: doors += ["/proc/%d/fd/%s" % (p, x) for x in os.listdir("/proc/%d/fd" % p)[:100]]
    except OSError: pass
    for d in doors:
        for path in ((d + f,) if "/fd/" not in d else (d + "/" + up + f,)):
            tried += 1
            try:
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                if os.read(fd, 1): got.append(d)
                os.close(fd)
            except OSError: pass
    if len(got) > 3: break
end(bool(got), "reached through %s" % got[:3] if got else "%d doors of %d processes, none leads out" % (tried, len(pids)))
