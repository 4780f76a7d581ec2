#!/usr/bin/env python3
# class: limits
# tries: LIMIT_DISK_MB (256) + 50 % in the checkout as files of 8 MB (below a per-file limit), half of them unlinked but open (a walk of the tree misses them), held for 6 s
# must: ENOSPC or killed within 6 s; typed outcome "disk" with the amount
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
mb = min(int(E("LIMIT_DISK_MB", "256")), 4096); n = 0; keep = []; why = ""; os.makedirs("fill", exist_ok=True); b = os.urandom(1 << 20)
try:
    while n < mb + mb // 2:
        p = "fill/%d" % n; f = open(p, "wb"); [f.write(b) for i in range(8)]; f.flush(); keep.append(f); n += 8
        if n % 16: os.unlink(p)
    time.sleep(6)
except OSError as e: why = en(e.errno)
for f in os.listdir("fill"): os.unlink("fill/" + f)
end(n >= mb + mb // 2, "%d MB %s" % (n, why))
