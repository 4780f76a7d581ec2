#!/usr/bin/env python3
# class: network
# tries: metadata (169.254.169.254, fd00:ec2::254), engine gateways (10.0.2.2, 10.88.0.1, 172.17.0.1), fe80::1, DNS by UDP and TCP; ONLY when the namespace has no route; with any route it says so and sends nothing
# must: HELD: ENETUNREACH for each
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
def routes():
    out = []
    for l in open("/proc/net/route").read().splitlines()[1:]:
        if l.split() and l.split()[0] != "lo": out.append(l.split()[0])
    try: out += [l.split()[-1] for l in open("/proc/net/ipv6_route") if l.split()[-1] != "lo"]
    except OSError: pass
    return out
try: R = routes()
except OSError as e: end(False, "VACUOUS: cannot tell whether the network namespace is empty (%s); nothing was sent" % e)
if R: end(True, "the network namespace has routes by %s; nothing was sent" % sorted(set(R)))

import socket
got, errs = [], set()
for h, p in (("169.254.169.254", 80), ("10.0.2.2", 80), ("10.0.2.3", 53), ("10.88.0.1", 80), ("172.17.0.1", 80), ("192.168.127.1", 80), ("fd00:ec2::254", 80), ("fe80::1", 80), ("192.0.2.53", 53)):
    for ty in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET6 if ":" in h else socket.AF_INET, ty); s.settimeout(0.5)
        try: s.connect((h, p)); got.append("%s:%d" % (h, p))
        except OSError as e: errs.add(en(e.errno) if e.errno else str(e))
        s.close()
end(bool(got), " ".join(got) if got else " ".join(sorted(errs)))
