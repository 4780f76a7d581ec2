#!/usr/bin/env python3
# class: filesystem
# tries: finding or mounting a cgroup hierarchy (v1 release_agent, v2 cgroup.procs/cgroup.kill) that opens for writing
# must: HELD: no cgroup file system in the jail, none can be mounted
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
import glob
got = []
for p in glob.glob("/sys/fs/cgroup/*/release_agent") + glob.glob("/sys/fs/cgroup/release_agent") + glob.glob("/sys/fs/cgroup/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/cgroup.kill") + glob.glob("/sys/fs/cgroup/*/memory.max") + glob.glob("/sys/fs/cgroup/*/pids.max"):
    try: os.close(os.open(p, os.O_WRONLY)); got.append(p)
    except OSError: pass
def mnt(fs, opt, user):
    def f():
        if libc.unshare((0x10000000 if user else 0) | 0x20000 | 0x02000000): return "unshare " + en(ctypes.get_errno())
        libc.mount(None, b"/", None, 16384 | 262144, None)
        if libc.mount(b"c", b"/tmp", fs, 0, opt): return "mount " + en(ctypes.get_errno())
        for n in ("release_agent", "cgroup.procs"):
            try: os.close(os.open("/tmp/" + n, os.O_WRONLY)); return "OPENED " + n
            except OSError as e: r = str(e)
        return "mounted only: " + r
    return f
out = [child(mnt(a, b, u)) for a, b in ((b"cgroup", b"rdma"), (b"cgroup", b"memory"), (b"cgroup2", None)) for u in (False, True)]
got += [o for o in out if "OPENED" in o]
end(bool(got), "; ".join(got[:4]) if got else "; ".join(sorted(set(out))))
