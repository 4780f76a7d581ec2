#!/usr/bin/env python3
# class: filesystem
# tries: using any descriptor from 3 up that the keeper or bwrap left open: folders (climb to CANARY_SECRET_FILE), files, sockets, pipes, namespaces
# must: HELD; the shim closed everything from 3 up
# control: bare
# control-needs: the harness starts the script with an inheritable descriptor of CANARY_DIR (pass_fds)
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
import stat
f = E("CANARY_SECRET_FILE", "/nonexistent"); me = os.path.realpath(sys.argv[0]); found = []
for n in sorted(int(x) for x in os.listdir("/proc/self/fd")):
    if n < 3: continue
    try: st = os.fstat(n); to = os.readlink("/proc/self/fd/%d" % n)
    except OSError: continue                      # the descriptor of listdir itself
    if to in (me, "/proc/%d/fd" % os.getpid()): continue
    what = "fd %d %s" % (n, to)
    if stat.S_ISDIR(st.st_mode):
        try: os.read(os.open("../" * 40 + f.lstrip("/"), os.O_RDONLY, dir_fd=n), 1); what += " (reads the secret)"
        except OSError: pass
    found.append(what)
end(bool(found), "; ".join(found) if found else "nothing above descriptor 2")
