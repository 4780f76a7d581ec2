#!/usr/bin/env python3
# class: network
# tries: raw and packet sockets, AF_ALG, AF_KEY, AF_TIPC, AF_RDS, AF_CAN, AF_BLUETOOTH, AF_XDP, AF_NFC, AF_QIPCRTR, also by socketpair; /dev/net/tun; nothing is sent
# must: HELD: EPERM, EAFNOSUPPORT or ENOSYS for each
# control: bare
# control-needs: root
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
got, errs = [], set()
for n, a in (("raw icmp", (2, 3, 1)), ("raw tcp", (2, 3, 6)), ("raw6", (10, 3, 58)), ("packet", (17, 3, 0)), ("packet dgram", (17, 2, 0)), ("alg", (38, 5, 0)), ("key", (15, 3, 2)), ("tipc", (30, 1, 0)), ("rds", (21, 5, 0)), ("can", (29, 3, 1)), ("bluetooth", (31, 3, 1)), ("xdp", (44, 3, 0)), ("nfc", (39, 5, 1)), ("qipcrtr", (42, 2, 0)), ("vsock seqpacket", (40, 5, 0)), ("mctp", (45, 2, 0))):
    r, e = sc(nr(41, 198), *a)
    if r >= 0: got.append(n); os.close(r)
    else: errs.add(en(e))
try: os.close(os.open("/dev/net/tun", os.O_RDWR)); got.append("tun")
except OSError: pass
end(bool(got), "; ".join(got) if got else " ".join(sorted(errs)))
