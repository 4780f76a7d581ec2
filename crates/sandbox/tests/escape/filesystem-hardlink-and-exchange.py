#!/usr/bin/env python3
# class: filesystem
# tries: hard linking the secret into the checkout (link, linkat by /proc/self/fd, AT_EMPTY_PATH), renaming own files out, RENAME_EXCHANGE with the secret
# must: HELD; secret and CANARY_DIR unchanged
# control: bare
# control-needs: checkout and CANARY_DIR on one file system
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
f, d = need("CANARY_SECRET_FILE"), need("CANARY_DIR"); got, errs = [], []
mine = ".escape-link-%d" % os.getpid(); LINKAT, RENAMEAT2 = nr(265, 37), nr(316, 276)
def t(what, fn):
    try: fn(); got.append(what)
    except OSError as e: errs.append(what + " " + en(e.errno))
    for x in (mine, d + "/" + mine):
        try: os.unlink(x)
        except OSError: pass
def call(n, *a):
    r, e = sc(n, *a)
    if r < 0: raise OSError(e, "")
t("link", lambda: os.link(f, mine))
def byfd(flag, src):
    fd = os.open(f, os.O_PATH if flag == 0x1000 else os.O_RDONLY)
    call(LINKAT, fd if flag == 0x1000 else -100, b"" if flag == 0x1000 else b"/proc/self/fd/%d" % fd, -100, mine.encode(), flag)
t("linkat proc fd", lambda: byfd(0x400, 0)); t("linkat empty path", lambda: byfd(0x1000, 0))
def mv(): open(mine, "w").write("x"); os.rename(mine, d + "/" + mine)
t("rename out", mv)
def xchg():                                      # twice, so that the control leaves the secret in its place
    open(mine, "w").write("x"); call(RENAMEAT2, -100, mine.encode(), -100, f.encode(), 2); call(RENAMEAT2, -100, mine.encode(), -100, f.encode(), 2)
t("exchange", xchg)
end(bool(got), "; ".join(got) if got else "; ".join(errs))
