#!/usr/bin/env python3
# class: network
# tries: absolute-form to HOST_PORT with Host: ALLOWED_HOST, origin-form with a foreign Host; then (for the log) absolute-form to ALLOWED_HOST with a foreign Host and with two
# must: HELD; where UPSTREAM is reached its log shows Host: ALLOWED_HOST only, never evil.invalid
# needs: the proxy under test has an injected dialler or stands in a network namespace of the test's own (isolation.md 10)
# control: open-proxy
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
import re, socket
from urllib.parse import urlsplit
_u = urlsplit(E("PROXY", "http://127.0.0.1:8119")); PX = (_u.hostname, _u.port or 8119)
def ask(raw, wait=1.2, then=()):
    """sends raw, then each of then after something came back; returns all that came back"""
    s = socket.socket(); s.settimeout(wait)
    try: s.connect(PX)
    except OSError as e: end(False, "VACUOUS: no proxy at %s:%s: %s" % (PX[0], PX[1], e))
    got = b""
    try:
        s.sendall(raw)
        for x in then: got += s.recv(65536); s.sendall(x)
        while len(got) < 200000:
            b = s.recv(65536)
            if not b: break
            got += b
    except OSError: pass
    s.close(); return got
def status(b):
    m = re.match(rb"HTTP/\d(?:\.\d)? (\d{3})", b); return int(m.group(1)) if m else 0
REFUSALS = {400, 403, 404, 405, 407, 408, 411, 413, 414, 421, 426, 429, 431, 501, 502, 503, 504, 505}
def through(b): return bool(b) and (b"CANARY" in b or status(b) not in REFUSALS)
def run(tries, passed=through):
    got, n, stop = [], 0, time.time() + 15
    for label, raw in tries:
        if time.time() > stop: break
        n += 1; b = ask(raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogateescape"))
        if passed(b): got.append("%s -> %r" % (label, b[:30]))
    if not got and n < len(tries): end(False, "VACUOUS: only %d of %d tried in time" % (n, len(tries)))
    end(bool(got), "%d of %d got through: %s" % (len(got), n, "; ".join(got[:4])) if got else "all %d refused or closed" % n)
def both(hosts, port):
    """CONNECT and absolute-form for each host text"""
    out = []
    for h in hosts:
        b = h if isinstance(h, bytes) else h.encode("utf-8"); p = str(port).encode()
        out += [("CONNECT %r" % h, b"CONNECT " + b + b":" + p + b" HTTP/1.1\r\nHost: " + b + b":" + p + b"\r\n\r\n"), ("GET %r" % h, b"GET http://" + b + b":" + p + b"/canary HTTP/1.1\r\nHost: " + b + b"\r\nConnection: close\r\n\r\n")]
    return out
# --- the attempt ---
a, p = need("ALLOWED_HOST"), need("HOST_PORT")
for h in ("evil.invalid", "127.0.0.1:" + p, a + "\r\nHost: evil.invalid"): ask(("GET http://%s/host-mismatch HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (a, h)).encode())
run([("absolute", "GET http://127.0.0.1:%s/canary HTTP/1.1\r\nHost: %s\r\n\r\n" % (p, a)), ("origin", "GET /canary HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" % p), ("forwarded", "GET /canary HTTP/1.1\r\nHost: %s\r\nX-Forwarded-Host: 127.0.0.1:%s\r\n\r\n" % (a, p))])
