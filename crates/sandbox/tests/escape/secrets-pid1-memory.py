#!/usr/bin/env python3
# class: secrets
# tries: /proc/1/{mem,maps,environ,fd}, process links, pidfd_getfd and PTRACE_SEIZE of the shim (only if HOST_PID is invisible)
# must: HELD: EPERM or EACCES; the shim is undumpable
# control: none
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
need("HOST_PID")
if host_visible() or not os.path.isdir("/workspace"): end(False, "VACUOUS: not in an own pid namespace, a host's init is left alone")
got, errs = [], set()
for f in ("mem", "maps", "environ", "auxv"):
    try: fd = os.open("/proc/1/" + f, os.O_RDONLY); got.append(f) if f == "mem" or os.read(fd, 1) else None
    except OSError as e: errs.add(en(e.errno))
for f in ("fd/0", "exe", "cwd", "root"):
    try: os.readlink("/proc/1/" + f); got.append("link " + f)
    except OSError as e: errs.add(en(e.errno))
r, e = sc(434, 1, 0)
for i in range(10 if r >= 0 else 0):
    x, e = sc(438, r, i, 0); got.append("stole fd %d" % i) if x >= 0 else errs.add(en(e))
o = child(lambda: "SEIZED" if sc(nr(101, 117), 0x4206, 1, 0, 0)[0] == 0 else en(ctypes.get_errno())); got.append(o) if o == "SEIZED" else errs.add(o)
end(bool(got), "pid 1: " + " ".join(got[:6]) if got else " ".join(sorted(errs)))
