#!/usr/bin/env python3
# class: namespaces
# tries: add_key, request_key and keyctl on user, user-session, session and persistent keyrings
# must: HELD: ENOSYS or EPERM for all calls
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
AK, RK, KC = nr(248, 217), nr(249, 218), nr(250, 219)
def f():
    got, errs = [], set()
    for n, a in (("@u", (KC, 0, -4, 0)), ("@us", (KC, 0, -5, 0)), ("@s", (KC, 0, -3, 0)), ("persistent", (KC, 22, os.getuid(), -2)), ("join", (KC, 1, b"escape-case")), ("add_key", (AK, b"user", b"escape-case", b"x", 1, -2)), ("read @u", (KC, 11, -4, ctypes.create_string_buffer(512), 512, 0))):
        r, e = sc(*a); got.append(n) if r >= 0 else errs.add(en(e))
    return ("GOT " + " ".join(got)) if got else " ".join(sorted(errs))
o = child(f); end(o.startswith("GOT"), o)
