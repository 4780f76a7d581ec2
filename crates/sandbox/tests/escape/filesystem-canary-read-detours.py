#!/usr/bin/env python3
# class: filesystem
# tries: reading CANARY_SECRET_FILE directly, by O_PATH and reopening, through /proc/self/root, thread-self, task/*/cwd with many "..", doubled slashes, and by listing its parents
# must: HELD, ENOENT for every way; the path does not exist in the jail; no trace needed
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
f = need("CANARY_SECRET_FILE"); got = []; n = 0
up = "/".join([".."] * 40)
ways = [f, "//" + f, "/proc/self/root" + f, "/proc/thread-self/root" + f, "/proc/self/cwd/" + up + f, up + f, "/workspace/" + up + f, "/tmp/" + up + f, "/dev/fd/../root" + f]
for t in os.listdir("/proc/self/task"): ways += ["/proc/self/task/%s/root%s" % (t, f), "/proc/self/task/%s/cwd/%s%s" % (t, up, f)]
for w in ways:
    n += 1
    try:
        if open(w, "rb").read(64): got.append(w)
    except OSError: pass
try: fd = os.open(f, os.O_PATH); open("/proc/self/fd/%d" % fd, "rb").read(1); got.append("O_PATH")
except OSError: pass
d = os.path.dirname(f)
while len(d) > 1:
    try:
        if os.path.basename(f) in os.listdir(d): got.append("listing " + d)
    except OSError: pass
    d = os.path.dirname(d)
end(bool(got), "; ".join(got) if got else "%d ways, none reached the file" % n)
