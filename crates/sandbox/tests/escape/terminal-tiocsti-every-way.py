#!/usr/bin/env python3
# class: terminal
# harness: with a pty, as the operator has one
# tries: TIOCSTI (a NUL byte) and TIOCLINUX on descriptors 0 to 2, /dev/tty, /dev/console, /dev/pts/*, also with high bits set (0x100005412, which passed known filters)
# must: HELD: EPERM, ENOTTY or no terminal
# control: bare
# control-needs: a pty and dev.tty.legacy_tiocsti=1
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
fds = [0, 1, 2]; got, errs = [], set(); b = ctypes.create_string_buffer(b"\0"); sub = ctypes.create_string_buffer(b"\6")
for p in ["/dev/tty", "/dev/console"] + glob.glob("/dev/pts/[0-9]*"):
    try: fds.append(os.open(p, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
    except OSError: pass
fds = [f for f in fds if os.isatty(f)]
if E("CASE_OWN_TTY_ONLY"): fds = [f for f in fds if f < 3]
for fd in fds:
    for num, buf in ((0x5412, b), (0x100005412, b), (0xffffffff00005412, b), (0x541c, sub), (0x10000541c, sub)):
        ctypes.set_errno(0); r = libc.syscall(ctypes.c_long(nr(16, 29)), ctypes.c_long(fd), ctypes.c_ulong(num), buf)
        got.append("%#x on fd %d" % (num, fd)) if r == 0 else errs.add(en(ctypes.get_errno()))
end(bool(got), "; ".join(got[:4]) if got else "%d terminals; %s" % (len(fds), sorted(errs)))
