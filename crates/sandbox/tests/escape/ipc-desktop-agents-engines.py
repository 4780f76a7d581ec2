#!/usr/bin/env python3
# class: ipc
# tries: sockets of D-Bus, ssh-agent, gpg-agent, X11 (path, abstract, TCP), wayland, pulse, tmux, docker, podman, containerd, nscd and resolved (names over a socket), and the variables that name them; connects only, asks nothing
# must: HELD: no such variable, no such socket
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
import socket, glob
got = ["variable " + v for v in ("SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "KUBECONFIG") if E(v)]
for g in ("/run/user/*/bus", "/run/dbus/*", "/tmp/ssh-*/agent.*", "/run/user/*/*/*", "/tmp/.X11-unix/*", "/run/user/*/wayland-*", "/tmp/tmux-*/*", "/run/systemd/private", "/run/systemd/journal/*", "/dev/log", "/run/nscd/socket", "/run/systemd/resolve/*", "/run/docker.sock", "/run/podman/*", "/run/containerd/*.sock"):
    for p in glob.glob(g)[:10]:
        for ty in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            s = socket.socket(socket.AF_UNIX, ty); s.settimeout(1)
            try: s.connect(p); got.append("connects " + p)
            except OSError: pass
            s.close()
for fam, ad in [(socket.AF_UNIX, "\0/tmp/.X11-unix/X%d" % i) for i in range(3)] + [(socket.AF_INET, ("127.0.0.1", p)) for p in (6000, 6001, 2375, 2376)]:
    s = socket.socket(fam); s.settimeout(1)
    try: s.connect(ad); got.append("connects %s" % (ad,))
    except OSError: pass
    s.close()
end(bool(got), "; ".join(got[:6]) if got else "none is there")
