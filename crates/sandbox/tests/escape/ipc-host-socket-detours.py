#!/usr/bin/env python3
# class: ipc
# tries: HOST_SOCKET by path, a climb, /proc/*/root, a link in the checkout, O_PATH and /proc/self/fd
# must: HELD: ENOENT; the only socket is the bridge
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
import socket
h = need("HOST_SOCKET"); got, errs = [], set(); l = ".sock-link-%d" % os.getpid()
ways = [h, "/proc/self/root" + h, "/proc/1/root" + h, "../" * 20 + h.lstrip("/"), l]
os.symlink(h, l)
try: ways.append("/proc/self/fd/%d" % os.open(h, os.O_PATH))
except OSError: pass
for w in ways:
    s = socket.socket(socket.AF_UNIX); s.settimeout(2)
    try: s.connect(w); got.append(w[:50])
    except OSError as e: errs.add(en(e.errno) if e.errno else str(e))
    s.close()
os.unlink(l); end(bool(got), "connected: " + "; ".join(got[:3]) if got else "%d ways: %s" % (len(ways), sorted(errs)))
