#!/usr/bin/env python3
# class: network
# tries: HOST_PORT on the host's loopback by 127.0.0.1, 127.1, 0, 127.255.255.254, decimal, hex, octal, localhost, ::1, ::, ::ffff:127.0.0.1; then binding HOST_PORT itself (a shared loopback says EADDRINUSE)
# must: HELD: ECONNREFUSED, and the bind works
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
p = int(need("HOST_PORT")); got, errs = [], set()
for h in ("127.0.0.1", "127.1", "0", "0.0.0.0", "127.255.255.254", "2130706433", "0x7f000001", "017700000001", "0x7f.1", "localhost", "::1", "::", "::ffff:127.0.0.1"):
    s = socket.socket(socket.AF_INET6 if ":" in h else socket.AF_INET); s.settimeout(1)
    try: s.connect((h, p)); got.append(h)
    except OSError as e: errs.add(en(e.errno) if e.errno else str(e))
    s.close()
s = socket.socket()
try: s.bind(("127.0.0.1", p))
except OSError as e: got.append("bind " + en(e.errno))
end(bool(got), " ".join(got) if got else " ".join(sorted(errs)))
