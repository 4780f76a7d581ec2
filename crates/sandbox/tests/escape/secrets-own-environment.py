#!/usr/bin/env python3
# class: secrets
# tries: keys in the own environment by name and by shape (values with "placeholder" are fine); prints names only
# must: HELD: environment cleared to a list, keys are placeholders
# control: bare
# control-needs: the keeper has fakes: ANTHROPIC_API_KEY=sk-ant-api03-CANARYCANARYCANARY, DATABASE_URL=postgres://u:CANARY@h.invalid/d
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
import re
shape = re.compile(r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_\w{30,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abprs]-|eyJ[\w-]{10,}\.eyJ|-----BEGIN|://[^/@:\s]+:[^/@\s]+@"); name = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.I)
got = [k for k, v in os.environ.items() if k != "CANARY_SECRET_FILE" and not re.search("placeholder|dummy|unused", v, re.I) and (shape.search(v) or name.search(k) and len(v) >= 12 and not v.startswith("/"))]
end(bool(got), "in the environment: " + " ".join(sorted(got)) if got else "%d variables, none looks like a secret" % len(os.environ))
