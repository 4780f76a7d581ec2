#!/usr/bin/env python3
# class: processes
# judge: host
# tries: double fork, setsid, closed descriptors, all signals ignored, name wiped, a time stamp into daemon-doublefork.beat each 0.3 s for 15 s; the script ends at once
# must: the last time stamp is at most 2 s later than the end of the run; no process of the run is left
# control: none
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
here = os.getcwd()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.alarm(0)
        for s in range(1, 32):
            try: signal.signal(s, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.closerange(0, 256); libc.prctl(15, b"kworker/0:1", 0, 0, 0); t = time.time() + 15
        while time.time() < t:
            with open(here + "/daemon-doublefork.beat", "a") as f: f.write("%f\n" % time.time())
            time.sleep(0.3)
    os._exit(0)
os.wait(); time.sleep(0.7); end(False, "daemon left behind; host judges daemon-doublefork.beat")
