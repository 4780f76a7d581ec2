#!/usr/bin/env python3
# class: processes
# tries: process_vm_readv of HOST_PID, pidfd_getfd of its descriptors 0 to 20, kcmp with it
# must: HELD: ESRCH or ENOSYS
# control: bare
# control-needs: root or kernel.yama.ptrace_scope=0
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
p = int(need("HOST_PID")); got, errs = [], set()
class IOV(ctypes.Structure): _fields_ = [("b", ctypes.c_void_p), ("l", ctypes.c_size_t)]
buf = ctypes.create_string_buffer(64); addr = 0x400000
try: addr = int([l for l in open("/proc/%d/maps" % p) if " r" in l][0].split("-")[0], 16)
except (OSError, IndexError): pass
r, e = sc(nr(310, 270), p, ctypes.byref(IOV(ctypes.addressof(buf), 64)), 1, ctypes.byref(IOV(addr, 64)), 1, 0)
got.append("process_vm_readv") if r > 0 else errs.add("readv " + en(e))
fd, e = sc(434, p, 0)
if fd < 0: errs.add("pidfd_open " + en(e))
for i in range(21 if fd >= 0 else 0):
    r, e = sc(438, fd, i, 0)
    if r >= 0: got.append("stole fd %d" % i); os.close(r)
    else: errs.add("getfd " + en(e))
end(bool(got), "; ".join(got[:4]) if got else "; ".join(sorted(errs)))
