#!/usr/bin/env python3
# class: namespaces
# tries: each namespace flag alone and with CLONE_NEWUSER through the syscalls unshare, clone and clone3
# must: HELD: EPERM, ENOSPC, EINVAL or ENOSYS for each (clone3 ENOSYS so that libc falls back)
# control: bare
# control-needs: user namespaces allowed
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
import struct
F = {"user": 0x10000000, "mnt": 0x20000, "net": 0x40000000, "pid": 0x20000000, "ipc": 0x08000000, "uts": 0x04000000, "cgroup": 0x02000000}
got, errs = [], set()
def forked(n, *a):
    r, e = sc(n, *a)
    if r == 0: os._exit(0)
    if r > 0: os.waitpid(r, 0); return "GOT"
    return en(e)
for n, f in F.items():
    for x in (0, 0x10000000):
        fl = f | x
        for w, fn in (("unshare", lambda: "GOT" if sc(nr(272, 97), fl)[0] == 0 else en(ctypes.get_errno())), ("clone", lambda: forked(nr(56, 220), fl | 17, 0, 0, 0, 0)), ("clone3", lambda: forked(435, struct.pack("8Q", fl, 0, 0, 0, 17, 0, 0, 0), 64))):
            o = child(fn); got.append(w + " " + n) if o == "GOT" else errs.add(w + " " + o)
end(bool(got), "%d ways: %s" % (len(got), "; ".join(got[:6])) if got else "; ".join(sorted(errs)))
