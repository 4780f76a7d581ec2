#!/usr/bin/env python3
# class: processes
# tries: prlimit, getpriority and affinity of HOST_PID; for itself nice -20, SCHED_FIFO, oom_score_adj -1000, raising hard rlimits
# must: HELD: ESRCH for the host, EPERM or EACCES for raising
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
import resource
p = int(need("HOST_PID")); got = []
for n, f in (("prlimit of host", lambda: resource.prlimit(p, resource.RLIMIT_NOFILE)), ("priority of host", lambda: os.getpriority(os.PRIO_PROCESS, p)), ("affinity of host", lambda: os.sched_getaffinity(p))):
    try: f(); got.append(n)
    except OSError: pass
def own():
    out = []
    def u(n, f):
        try: f(); out.append(n)
        except (OSError, ValueError): pass
    def oom():
        with open("/proc/self/oom_score_adj", "w") as f: f.write("-1000")
    u("nice -20", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)); u("SCHED_FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))); u("oom_score_adj", oom)
    for n in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CORE"):
        s, h = resource.getrlimit(getattr(resource, n))
        if h != resource.RLIM_INFINITY: u("raised " + n, lambda: resource.setrlimit(getattr(resource, n), (s, h + 1)))
    return "; ".join(out) or "nothing"
o = child(own)
if o != "nothing" and "killed" not in o: got.append(o)
end(bool(got), "; ".join(got) if got else "host not reachable, nothing raised")
