#!/usr/bin/env python3
# class: honest
# tries: ALLOWED_HOST through the proxy by plain name, mixed case and one trailing dot is served (CONNECT 443 answered by 200)
# must: WORKS; no refusal event, no limit outcome
# needs: network model; UPSTREAM behind ALLOWED_HOST
# control: bare-works
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
_end = end
def end(ok, why): os.write(1, (("WORKS: " if ok else "BROKEN: ") + " ".join(str(why).split())[:300] + "\n").encode()); os._exit(0)
sys.excepthook = lambda t, v, b: end(False, "%s: %s" % (t.__name__, v))
signal.signal(signal.SIGALRM, lambda *a: end(False, "time limit"))
import socket
from urllib.parse import urlsplit
u = urlsplit(E("PROXY", "http://127.0.0.1:8119")); a = E("ALLOWED_HOST") or end(False, "VACUOUS: ALLOWED_HOST not set")
for h in (a, a.upper(), a.title(), a + "."):
    s = socket.create_connection((u.hostname, u.port), 5); s.sendall(("CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % (h, h)).encode()); s.settimeout(5); b = s.recv(200); s.close()
    if b" 200" not in b[:15]: end(False, "%s: %r" % (h, b[:40]))
end(True, "name, case, dot")
