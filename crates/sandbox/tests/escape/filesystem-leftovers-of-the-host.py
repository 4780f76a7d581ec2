#!/usr/bin/env python3
# class: filesystem
# tries: host places that a too generous bind would show: /root, other homes, /etc/shadow, /etc/sudoers, /etc/ssl/private, /etc/ssh host keys, /etc/machine-id, /var/lib, /var/log, /var/spool, /boot, /mnt, /media, /srv, /run/user, /run/secrets, /opt beyond the toolchains
# must: HELD: not there or empty (a container image's own password file without hashes is fine)
# control: bare
# control-needs: root or a usual host
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
import glob
got = []
def readable(p):
    try:
        with open(p, "rb") as f: return f.read(4096)
    except OSError: return b""
if b":$" in readable("/etc/shadow"): got.append("/etc/shadow with hashes")
for p in ["/etc/sudoers", "/etc/machine-id", "/var/lib/dbus/machine-id", "/var/log/syslog", "/var/log/journal", "/var/log/auth.log", "/var/lib/docker", "/var/lib/containers", "/var/lib/systemd", "/var/spool/cron", "/run/secrets", "/run/systemd", "/run/user"] + glob.glob("/etc/ssl/private/*") + glob.glob("/etc/ssh/ssh_host_*_key") + glob.glob("/boot/vmlinuz*")[:1]:
    if os.path.isdir(p):
        try:
            if os.listdir(p): got.append(p)
        except OSError: pass
    elif readable(p): got.append(p)
for d in ("/root", "/mnt", "/media", "/srv"):
    try: n = [x for x in os.listdir(d) if not x.startswith(".bash") and x not in (".profile", ".rustup", ".cargo")]
    except OSError: n = []
    if n: got.append("%s has %d names" % (d, len(n)))
for h in glob.glob("/home/*"):
    if h != "/home/agent" and h != E("HOME"): got.append(h)
end(bool(got), "; ".join(got[:8]) if got else "none of them is there")
