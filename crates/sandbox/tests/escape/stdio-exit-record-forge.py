#!/usr/bin/env python3
# class: stdio
# judge: host
# exit: 7
# tries: a new record file in STATE_DIR and its run folders, bwrap status lines on every descriptor above 2 and on stdout and stderr; ends with code 7
# must: HELD; the recorded exit code is 7, the outcome failed; nothing new in STATE_DIR
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
import glob
d = need("STATE_DIR"); got = []; rec = b'{"exit-code": 0}\n{"exit":0,"outcome":"passed"}\n'
for t in [d] + [x for x in glob.glob(d + "/*") + glob.glob(d + "/*/*") if os.path.isdir(x)][:50]:
    p = t + "/.escape-case-exit.json"
    try: fd = os.open(p, os.O_CREAT | os.O_WRONLY, 0o600); os.write(fd, rec); os.close(fd); os.unlink(p); got.append("wrote in " + t)
    except OSError: pass
for n in range(3, 64):
    try: os.fstat(n); os.write(n, rec); got.append("wrote to descriptor %d" % n)
    except OSError: pass
os.write(2, rec); os.write(1, rec + (b"ESCAPED: " + "; ".join(got[:4]).encode() if got else b"HELD: no record reachable; printed forged status lines, exits 7") + b"\n"); os._exit(7)
