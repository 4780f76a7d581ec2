#!/usr/bin/env python3
# class: namespaces
# tries: bpf map and program, perf_event_open (self, system-wide, HOST_PID), userfaultfd (both modes and the device), fanotify
# must: HELD: bpf EPERM or ENOSYS; perf and userfaultfd ENOSYS
# control: bare
# control-needs: root, or unprivileged bpf or perf allowed
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
import struct
got, errs = [], []
def t(n, r, e): (got if r >= 0 else errs).append(n if r >= 0 else n + " " + en(e))
B = nr(321, 280); prog = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0)); lic = ctypes.create_string_buffer(b"GPL")
t("bpf map", *sc(B, 0, struct.pack("6I", 2, 4, 8, 1, 0, 0) + bytes(96), 120)); t("bpf prog", *sc(B, 5, struct.pack("IIQQ", 1, 2, ctypes.addressof(prog), ctypes.addressof(lic)) + bytes(96), 120))
for n, pid, cpu in (("perf self", 0, -1), ("perf system-wide", -1, 0), ("perf host", int(E("HOST_PID", "1")), -1)):
    t(n, *sc(nr(298, 241), struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x60) + bytes(64), pid, cpu, -1, 0))
t("userfaultfd", *sc(nr(323, 282), 0)); t("userfaultfd user mode", *sc(nr(323, 282), 1)); t("fanotify", *sc(nr(300, 262), 0, 0))
if os.access("/dev/userfaultfd", os.R_OK): got.append("/dev/userfaultfd")
end(bool(got), "; ".join(got) if got else "; ".join(errs))
