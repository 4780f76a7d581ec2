#!/usr/bin/env python3
# class: filesystem
# tries: open_tree(CLONE), fsopen/fsmount, move_mount, mount_setattr(clear read-only) on / /usr /proc, umount of /workspace /proc /tmp (to see below), pivot_root
# must: HELD: EPERM or ENOSYS for each
# control: bare
# control-needs: root (the control does everything in an own mount namespace)
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
def all_():
    libc.unshare(0x20000); libc.mount(None, b"/", None, 16384 | 262144, None); out = []
    for p in (b"/", b"/workspace", b"/usr"):
        r, e = sc(428, -100, p, 1 | 0x8000); out.append("GOT open_tree %s" % p.decode() if r >= 0 else "open_tree " + en(e))
        if r >= 0: m, e = sc(429, r, b"", -100, b"/tmp", 4); out.append("GOT move_mount" if m == 0 else "move_mount " + en(e)); sc(nr(166, 39), b"/tmp", 2)
    for fs in (b"tmpfs", b"proc", b"overlay", b"cgroup2"):
        r, e = sc(430, fs, 0); out.append("GOT fsopen %s" % fs.decode() if r >= 0 else "fsopen " + en(e))
    r, e = sc(442, -100, b"/usr", 0, struct.pack("QQQQ", 0, 1, 0, 0), 32); out.append("GOT mount_setattr" if r == 0 else "mount_setattr " + en(e))
    for p in (b"/proc", b"/workspace", b"/tmp", b"/run/lw/net", b"/etc"):
        r, e = sc(nr(166, 39), p, 2); out.append("GOT umount " + p.decode() if r == 0 else "umount " + en(e))
    r, e = sc(nr(155, 41), b"/tmp", b"/tmp"); out.append("GOT pivot_root" if r == 0 else "pivot_root " + en(e))
    return "; ".join(sorted(set(out)))
o = child(all_); end("GOT" in o, o)
