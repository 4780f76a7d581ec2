#!/usr/bin/env python3
# class: ipc
# tries: System V tables, SHM_STAT by index, shmat of HOST_SHM_ID, names in /dev/shm and /dev/mqueue
# must: HELD: own ipc namespace, all empty
# control: bare
# control-needs: HOST_SHM_ID, a shared memory id made by the harness
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
got = []
for n in ("shm", "sem", "msg"):
    try: k = len(open("/proc/sysvipc/" + n).read().splitlines()) - 1
    except OSError: k = 0
    if k > 0: got.append("%d %s" % (k, n))
if E("HOST_SHM_ID"):
    libc.shmat.restype = ctypes.c_void_p; libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    if libc.shmat(int(E("HOST_SHM_ID")), None, 0o10000) not in (None, ctypes.c_void_p(-1).value): got.append("attached HOST_SHM_ID")
for d in ("/dev/mqueue", "/dev/shm"):
    if os.path.isdir(d) and os.listdir(d): got.append("%s has names" % d)
end(bool(got), "; ".join(got) if got else "all tables empty")
