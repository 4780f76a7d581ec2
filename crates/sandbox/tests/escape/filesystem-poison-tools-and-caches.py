#!/usr/bin/env python3
# class: filesystem
# tries: creating a file in every folder of PATH, of the toolchains, registries and caches (CARGO_HOME/registry, RUSTUP_HOME, node_modules global, site-packages), /etc, /usr/local, and appending to an existing program; what a later run or the host would execute
# must: HELD: EROFS or EACCES everywhere but checkout, HOME, /tmp
# control: bare
# control-needs: root, or a user with own toolchain
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
import glob, site, stat
own = ("/workspace", "/home/agent", "/tmp", "/dev/shm", "/var/tmp", os.getcwd(), E("HOME", "/home/agent") if not host_visible() else "/nonexistent")
ds = set(E("PATH", "").split(":")) | {"/etc", "/etc/profile.d", "/usr/lib", "/usr/local/bin", "/usr/local/lib", "/usr/share", "/opt", "/run/lw", "/run", "/"} | set(site.getsitepackages())
for v, sub in (("CARGO_HOME", ("", "/bin", "/registry", "/registry/cache", "/git")), ("RUSTUP_HOME", ("", "/toolchains"))):
    b = E(v)
    if b: ds |= {b + s for s in sub}
ds |= set(glob.glob("/root" + "/.cargo/bin")) | set(glob.glob("/root" + "/.rustup/toolchains/*/lib")) | set(glob.glob("/usr/lib/node_modules")) | set(glob.glob("/usr/local/lib/node_modules"))
got = []
for d in sorted(x for x in ds if x):
    r = os.path.realpath(d)
    if any(r == o or r.startswith(o + "/") for o in own) or not os.path.isdir(r): continue
    p = r + "/.escape-case-%d" % os.getpid()
    try: os.close(os.open(p, os.O_CREAT | os.O_EXCL | os.O_WRONLY)); os.unlink(p); got.append(r)
    except OSError: pass
for f in ("/etc/hosts", "/etc/ld.so.cache", "/usr/bin/env", "/etc/passwd", "/run/lw/shim"):
    try: os.close(os.open(f, os.O_WRONLY | os.O_APPEND)); got.append("append " + f)
    except OSError: pass
end(bool(got), "writable: " + " ".join(got[:8]) if got else "%d folders are read-only" % len(ds))
