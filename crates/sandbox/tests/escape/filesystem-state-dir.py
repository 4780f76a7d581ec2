#!/usr/bin/env python3
# class: filesystem
# tries: listing STATE_DIR, opening every file for reading and appending (no write), opening journals with sqlite, inotify on it, statfs, and the same by guessing from mountinfo's host paths
# must: HELD; mountinfo may show host paths (known remainder), but none of them opens
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
import glob, sqlite3
d = need("STATE_DIR"); got = []
try: got.append("lists %d names" % len(os.listdir(d)))
except OSError: pass
for f in (glob.glob(d + "/**/*", recursive=True))[:200]:
    if not os.path.isfile(f): continue
    for fl, n in ((os.O_RDONLY | os.O_NONBLOCK, "reads"), (os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK, "appends")):
        try: os.close(os.open(f, fl)); got.append(n + " " + os.path.basename(f))
        except OSError: pass
try: sqlite3.connect("file:%s/journal.db?mode=ro" % d, uri=True, timeout=1).execute("select 1 from sqlite_master"); got.append("sqlite journal.db")
except sqlite3.Error: pass
i = libc.inotify_init()
if libc.inotify_add_watch(i, d.encode(), 0xfff) >= 0: got.append("inotify")
roots = set()
for l in open("/proc/self/mountinfo"):
    f = l.split(); p = f[3]
    while len(p) > 1:
        p = os.path.dirname(p)
        if len(p) > 1 and p not in ("/usr", "/etc", "/home", "/var", "/run", "/opt", "/lib", "/bin", "/sbin", "/lib64", "/tmp", "/dev", "/proc", "/sys"): roots.add(p)
for r in roots:
    for n in ("journal.db", "journal", "keepers", "keeper.sock", "exit.json"):
        if r.startswith(d) and os.path.lexists(r + "/" + n): got.append("by mountinfo " + n)
end(bool(got), "; ".join(got[:6]) if got else "STATE_DIR is not there")
