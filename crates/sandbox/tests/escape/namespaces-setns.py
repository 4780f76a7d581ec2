#!/usr/bin/env python3
# class: namespaces
# tries: setns by a pidfd of HOST_PID, /proc/HOST_PID/ns/*, and the parents and owners of the own namespaces (NS_GET_PARENT, NS_GET_USERNS)
# must: HELD: no door to a namespace of the host
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
import fcntl
hp = need("HOST_PID"); got, errs = [], set()
def enter(fd, typ=0):
    r, e = sc(nr(308, 268), fd, typ); return "ENTERED" if r == 0 else en(e)
r, e = sc(434, int(hp), 0)
o = child(lambda: enter(r, 0x40000000)) if r >= 0 else en(e); got.append("pidfd") if o == "ENTERED" else errs.add("pidfd " + o)
for n in ("mnt", "net", "pid", "ipc", "uts", "user", "cgroup"):
    o = child(lambda: enter(os.open("/proc/%s/ns/%s" % (hp, n), os.O_RDONLY))); got.append(n + " of host") if o == "ENTERED" else errs.add(o[:30])
    for io in (0xb702, 0xb701):
        o = child(lambda: enter(fcntl.ioctl(os.open("/proc/self/ns/" + n, os.O_RDONLY), io))); got.append("%#x of own %s" % (io, n)) if o == "ENTERED" else errs.add(o[:30])
end(bool(got), "; ".join(got[:6]) if got else "; ".join(sorted(errs)))
