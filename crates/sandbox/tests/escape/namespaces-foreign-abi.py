#!/usr/bin/env python3
# class: namespaces
# tries: int 0x80 from machine code by mmap and ctypes (i386 getpid, unshare) and x32 numbers for getpid and unshare
# must: HELD: killed by SIGSYS or ENOSYS; the filter's 64-bit numbers cannot be passed by
# control: bare
# control-needs: x86-64 kernel with IA32 emulation
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
import mmap, struct
if platform.machine() != "x86_64": end(False, "VACUOUS: x86-64 only")
def i386(num, arg):
    def f():
        m = mmap.mmap(-1, 4096, prot=7); m.write(b"\x53\xb8" + struct.pack("<I", num) + b"\xbb" + struct.pack("<I", arg) + b"\xcd\x80\x5b\x48\x98\xc3")
        r = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))(); return "GOT %d" % r if r >= 0 else en(-r)
    return f
out = {"int80 getpid": child(i386(20, 0)), "int80 unshare": child(i386(310, 0x10000000))}
for n, num, a in (("x32 getpid", 39, 0), ("x32 unshare", 272, 0x10000000)): out[n] = child(lambda: "GOT" if sc(0x40000000 | num, a)[0] >= 0 else en(ctypes.get_errno()))
end(any("GOT" in v for v in out.values()), "; ".join("%s: %s" % x for x in out.items()))
