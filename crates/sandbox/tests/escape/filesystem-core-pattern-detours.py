#!/usr/bin/env python3
# class: filesystem
# tries: setting core_pattern to its present value by detours: a fresh proc mount in an own namespace, fsopen("proc"), /proc/self/root/proc, sysctl -w, remounting /proc read-write
# must: HELD: no detour gives a writable core_pattern; as root without this it is root on the host
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
import subprocess
P = "/proc/sys/kernel/core_pattern"
try: v = open(P).read()
except OSError as e: v = None
def put(p):
    fd = os.open(p, os.O_WRONLY); os.write(fd, v.encode()) if v else None; return "WROTE " + p
def fresh():
    for flags in (0x10000000 | 0x20000 | 0x20000000, 0x20000):
        if libc.unshare(flags) == 0: break
    else: return "unshare " + en(ctypes.get_errno())
    if libc.mount(None, b"/", None, 16384 | 262144, None): return "private " + en(ctypes.get_errno())
    if libc.mount(b"p", b"/tmp", b"proc", 0, None): return "mount proc " + en(ctypes.get_errno())
    return put("/tmp/sys/kernel/core_pattern")
def fsopen():
    r, e = sc(430, b"proc", 0)
    if r < 0: return "fsopen " + en(e)
    r2, e2 = sc(431, r, 6, 0, 0, 0); m, e3 = sc(432, r, 0, 0)
    if m < 0: return "fsmount " + en(e2 or e3)
    fd = os.open("sys/kernel/core_pattern", os.O_WRONLY, dir_fd=m); os.write(fd, v.encode()) if v else None; return "WROTE by fsmount"
def remount():
    if libc.unshare(0x20000): return "unshare " + en(ctypes.get_errno())
    libc.mount(None, b"/", None, 16384 | 262144, None)
    if libc.mount(None, b"/proc", None, 32 | 4096, None): return "remount " + en(ctypes.get_errno())
    return put(P)
out = [child(f) for f in (fresh, fsopen, remount, lambda: put("/proc/self/root" + P), lambda: put("/proc/thread-self/root" + P))]
if v:
    try: r = subprocess.run(["sysctl", "-q", "-w", "kernel.core_pattern=" + v.rstrip("\n")], capture_output=True, timeout=5); out.append("WROTE by sysctl" if r.returncode == 0 and not r.stderr else "sysctl refused")
    except (OSError, subprocess.TimeoutExpired): pass
end(any("WROTE" in o for o in out), "; ".join(out))
