#!/usr/bin/env python3
# class: filesystem
# tries: opening for writing (never writing) the sysctls that give code execution or weaken the host: modprobe, core_pipe_limit, hotplug, poweroff_cmd, binfmt_misc/register, usermodehelper, ptrace_scope, overcommit, randomize_va_space, protected_*, suid_dumpable, user.max_*
# must: HELD: EROFS or EACCES for each (/proc is read-only), also by /proc/1/root and thread-self
# control: bare
# control-needs: root
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
names = ["kernel/" + x for x in "modprobe core_pattern core_pipe_limit core_uses_pid hotplug poweroff_cmd usermodehelper/bset usermodehelper/inheritable yama/ptrace_scope randomize_va_space kptr_restrict dmesg_restrict unprivileged_bpf_disabled ns_last_pid sysrq pid_max threads-max panic io_uring_disabled keys/maxkeys".split()] + ["fs/" + x for x in "binfmt_misc/register binfmt_misc/status protected_symlinks protected_hardlinks suid_dumpable file-max inotify/max_user_watches".split()] + ["vm/" + x for x in "overcommit_memory drop_caches mmap_min_addr unprivileged_userfaultfd swappiness".split()] + ["user/max_user_namespaces", "dev/tty/legacy_tiocsti"]
got, seen = [], 0
for base in ("/proc/sys/", "/proc/self/root/proc/sys/", "/proc/1/root/proc/sys/"):
    for n in names:
        if os.path.exists(base + n): seen += 1
        for flags in (os.O_WRONLY, os.O_RDWR):
            try: os.close(os.open(base + n, flags)); got.append(base + n); break
            except OSError: pass
for n in ("/proc/self/attr/exec", "/proc/sysrq-trigger", "/proc/kcore", "/proc/kallsyms.w", "/proc/timer_list", "/proc/acpi/wakeup", "/proc/scsi/scsi", "/proc/asound/timers"):
    if n in ("/proc/kcore",):
        try: os.close(os.open(n, os.O_RDONLY)); got.append(n + " readable")
        except OSError: pass
    elif n in ("/proc/sysrq-trigger", "/proc/acpi/wakeup", "/proc/scsi/scsi"):
        try: os.close(os.open(n, os.O_WRONLY)); got.append(n)
        except OSError: pass
end(bool(got), "%d open for writing: %s" % (len(got), " ".join(got[:6])) if got else "%d seen, none opens for writing" % seen)
