#!/usr/bin/env python3
# class: namespaces
# tries: calls that need a capability with arguments that do nothing even if allowed (module, kexec, reboot with wrong magic, swap and acct of nothing, iopl, sethostname to the same name); capset; CapEff, NoNewPrivs; personality is only noted
# must: HELD: EPERM or ENOSYS, no capability, NoNewPrivs 1
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
import socket, struct
got, errs = [], set()
def t(n, *a):
    def f():
        r, e = sc(*a); return "ok" if r >= 0 else en(e)
    o = child(f); errs.add(o) if o in ("EPERM", "EACCES", "ENOSYS") or "killed" in o else got.append(n + " " + o)
h = socket.gethostname().encode()
t("init_module", nr(175, 105), 0, 0, b""); t("delete_module", nr(176, 106), b"no_such_module_x", 0); t("kexec_load", nr(246, 104), 0, 1000, 0, 0); t("reboot", nr(169, 142), 1, 2, 3, 0)
t("swapon", nr(167, 224), b"/nonexistent", 0); t("acct", nr(163, 89), b"/nonexistent"); t("sethostname", nr(170, 161), h, len(h))
if platform.machine() == "x86_64": t("iopl", 172, 3)
s = dict(l.split(":", 1) for l in open("/proc/self/status").read().splitlines() if ":" in l)
got += [c + s[c].strip() for c in ("CapEff", "CapPrm", "CapAmb") if int(s[c], 16)]
if s.get("NoNewPrivs", "0").strip() != "1": got.append("NoNewPrivs not set")
note = child(lambda: "personality " + ("set" if sc(nr(135, 92), 0x0440000)[0] >= 0 else "refused"))
end(bool(got), "; ".join(got) if got else "%s; %s" % (sorted(errs), note))
