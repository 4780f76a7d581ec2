#!/usr/bin/env python3
# class: filesystem
# tries: opening for writing (never writing) uevent_helper, uevent files, debugfs, tracefs, efivars, power/state, kexec_loaded, module parameters, and mounting sysfs, debugfs, binfmt_misc, securityfs, efivarfs in an own mount namespace
# must: HELD: no /sys, no mount
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
import glob, itertools
got = []
pats = ["/sys/kernel/uevent_helper", "/sys/kernel/debug/*", "/sys/kernel/tracing/trace_marker", "/sys/kernel/tracing/set_event", "/sys/firmware/efi/efivars/*", "/sys/power/state", "/sys/kernel/kexec_crash_size", "/sys/module/*/parameters/*", "/sys/class/net/*/uevent", "/sys/class/mem/*/uevent", "/sys/bus/*/drivers_probe", "/sys/fs/bpf", "/sys/kernel/mm/ksm/run", "/proc/sys/fs/binfmt_misc/register"]
for p in itertools.chain.from_iterable(sorted(glob.glob(x))[:40] for x in pats):
    if os.path.isdir(p): continue
    try: os.close(os.open(p, os.O_WRONLY | os.O_NONBLOCK)); got.append(p)
    except OSError: pass
def mnt(fs, user):
    def f():
        if libc.unshare((0x10000000 if user else 0) | 0x20000): return "unshare " + en(ctypes.get_errno())
        libc.mount(None, b"/", None, 16384 | 262144, None)
        return "MOUNTED " + fs.decode() if libc.mount(b"x", b"/tmp", fs, 0, None) == 0 else "mount " + en(ctypes.get_errno())
    return f
out = [child(mnt(fs, u)) for fs in (b"sysfs", b"debugfs", b"tracefs", b"binfmt_misc", b"securityfs", b"efivarfs", b"devtmpfs", b"mqueue") for u in (False, True)]
got += [o for o in out if "MOUNTED" in o]
end(bool(got), "; ".join(got[:5]) if got else "nothing to write; " + "; ".join(sorted(set(out))))
