#!/usr/bin/env python3
# class: filesystem
# judge: host
# tries: leaving in the checkout: FIFO, unix socket, names with newline, ESC, invalid UTF-8, "-rf", "..." and trailing spaces, a case clash, Windows names, a 10 GB sparse file, a 1500 deep tree, a folder of mode 000, a .git folder deep inside, a file named like a ref lock
# must: HELD; host neither hangs (FIFO: O_NONBLOCK) nor crashes nor prints raw control characters; each is an outcome with a reason; clean removes the tree
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
import socket
os.makedirs("odd", exist_ok=True); os.chdir("odd"); made = []
def t(n, f):
    try: f(); made.append(n)
    except (OSError, ValueError) as e: made.append(n + ":" + str(getattr(e, "strerror", e)))
def w(n): fd = os.open(n, os.O_CREAT | os.O_WRONLY, 0o644); os.write(fd, b"x"); os.close(fd)
t("fifo", lambda: os.mkfifo("README")); t("socket", lambda: socket.socket(socket.AF_UNIX).bind("sock"))
for n in (b"new\nline", b"\x1b]0;title\x07\x1b[2J", b"bad\xff\xfeutf8", b"-rf", b"--upload-pack=x", b"...", b" trailing ", b"a" * 255, b"Case", b"case", b"CON", b"aux.txt", b"quote'\"$(id)`id`", b"\xe2\x80\xaegpj.exe", b"HEAD.lock", b"~", b"*", b"\\"): t(repr(n)[:20], lambda: w(n))
t("sparse", lambda: os.truncate(os.open("sparse.bin", os.O_CREAT | os.O_RDWR, 0o644), 10 << 30))
def deep():
    top = os.open(".", os.O_RDONLY); d = top
    for i in range(1500): os.mkdir("d", dir_fd=d); n = os.open("d", os.O_RDONLY, dir_fd=d); os.close(d) if d != top else None; d = n
t("deep", deep)
os.makedirs("inner/.git/hooks", exist_ok=True); w(b"inner/.git/HEAD"); os.makedirs("locked/x", exist_ok=True); os.chmod("locked", 0)
end(False, "left for the host: %d kinds" % len(made))
