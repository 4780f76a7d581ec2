//! The system call filter of a jail: a classic BPF program for `bwrap --seccomp`, and the same rules
//! as JSON for containers.
//!
//! Everything is allowed that is not listed. A call is listed if it makes or enters namespaces,
//! changes mounts, loads code into the kernel, or reaches something that no namespace hides (keys,
//! the clock, sockets to the hypervisor). Where programs know how to do without a call it does not
//! exist (`ENOSYS`), otherwise it is not permitted.

use serde_json::{Value, json};

/// The machines whose numbers we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// 64-bit Intel and AMD.
    X86,
    /// 64-bit ARM.
    Arm,
}

impl Machine {
    /// The machine that we run on.
    pub(crate) fn ours() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86),
            "aarch64" => Some(Self::Arm),
            _ => None,
        }
    }

    fn audit_number(self) -> u32 {
        match self {
            Self::X86 => 0xC000_003E,
            Self::Arm => 0xC000_00B7,
        }
    }

    fn of<T>(self, (x86, arm): (T, T)) -> T {
        match self {
            Self::X86 => x86,
            Self::Arm => arm,
        }
    }
}

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;
const EAFNOSUPPORT: u32 = 97;

/// Name, number on x86-64 and on ARM, and the error.
type Call = (&'static str, Option<u32>, Option<u32>, u32);

const fn both(name: &'static str, x86: u32, arm: u32, error: u32) -> Call {
    (name, Some(x86), Some(arm), error)
}

const fn x86(name: &'static str, number: u32, error: u32) -> Call {
    (name, Some(number), None, error)
}

const CALLS: [Call; 60] = [
    both("io_uring_setup", 425, 425, ENOSYS),
    both("io_uring_enter", 426, 426, ENOSYS),
    both("io_uring_register", 427, 427, ENOSYS),
    // Its flags are behind a pointer, which a filter cannot follow.
    both("clone3", 435, 435, ENOSYS),
    both("perf_event_open", 298, 241, ENOSYS),
    both("userfaultfd", 323, 282, ENOSYS),
    both("name_to_handle_at", 303, 264, ENOSYS),
    both("fanotify_init", 300, 262, ENOSYS),
    both("open_tree_attr", 467, 467, ENOSYS),
    both("add_key", 248, 217, EPERM),
    both("request_key", 249, 218, EPERM),
    both("keyctl", 250, 219, EPERM),
    both("bpf", 321, 280, EPERM),
    both("kexec_load", 246, 104, EPERM),
    both("kexec_file_load", 320, 294, EPERM),
    both("init_module", 175, 105, EPERM),
    both("finit_module", 313, 273, EPERM),
    both("delete_module", 176, 106, EPERM),
    both("mount", 165, 40, EPERM),
    both("umount2", 166, 39, EPERM),
    both("pivot_root", 155, 41, EPERM),
    both("move_mount", 429, 429, EPERM),
    both("open_tree", 428, 428, EPERM),
    both("fsopen", 430, 430, EPERM),
    both("fsconfig", 431, 431, EPERM),
    both("fsmount", 432, 432, EPERM),
    both("fspick", 433, 433, EPERM),
    both("mount_setattr", 442, 442, EPERM),
    both("setns", 308, 268, EPERM),
    both("unshare", 272, 97, EPERM),
    both("swapon", 167, 224, EPERM),
    both("swapoff", 168, 225, EPERM),
    both("reboot", 169, 142, EPERM),
    both("acct", 163, 89, EPERM),
    both("quotactl", 179, 60, EPERM),
    both("quotactl_fd", 443, 443, EPERM),
    both("open_by_handle_at", 304, 265, EPERM),
    both("lookup_dcookie", 212, 18, EPERM),
    both("settimeofday", 164, 170, EPERM),
    both("clock_settime", 227, 112, EPERM),
    both("adjtimex", 159, 171, EPERM),
    both("clock_adjtime", 305, 266, EPERM),
    both("syslog", 103, 116, EPERM),
    both("chroot", 161, 51, EPERM),
    both("vhangup", 153, 58, EPERM),
    both("process_madvise", 440, 440, EPERM),
    both("move_pages", 279, 239, EPERM),
    both("mbind", 237, 235, EPERM),
    both("set_mempolicy", 238, 237, EPERM),
    both("migrate_pages", 256, 238, EPERM),
    both("kcmp", 312, 272, EPERM),
    both("sethostname", 170, 161, EPERM),
    both("setdomainname", 171, 162, EPERM),
    both("nfsservctl", 180, 42, EPERM),
    x86("iopl", 172, EPERM),
    x86("ioperm", 173, EPERM),
    x86("uselib", 134, EPERM),
    x86("modify_ldt", 154, EPERM),
    x86("_sysctl", 156, EPERM),
    x86("create_module", 174, EPERM),
];

const CLONE: (u32, u32) = (56, 220);
const IOCTL: (u32, u32) = (16, 29);
const SOCKETS: [(&str, (u32, u32)); 2] = [("socket", (41, 198)), ("socketpair", (53, 199))];

/// Every flag of `clone` that makes a namespace: mount, cgroup, uts, ipc, user, pid, net.
const NAMESPACES: [u32; 7] = [
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];

/// They put characters into the terminal: `TIOCSTI` and `TIOCLINUX`.
const TERMINAL_REQUESTS: [u32; 2] = [0x5412, 0x541C];

/// The socket families that programs need: unix, inet, inet6, netlink. Others reach past the network
/// namespace, such as vsock, or are rarely tested code of the kernel.
const FAMILIES: [u32; 4] = [1, 2, 10, 16];

/// Families are numbered below this.
const FAMILIES_END: u32 = 64;

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const ERROR: u32 = 0x0005_0000;
const KILL_PROCESS: u32 = 0x8000_0000;

/// Offsets in `struct seccomp_data`: the call's number, the machine, and the low half of arguments
/// 0 and 1, on a little-endian machine.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const ARGUMENT_0: u32 = 16;
const ARGUMENT_1: u32 = 24;

#[derive(Default)]
struct Program(Vec<(u16, u8, u8, u32)>);

impl Program {
    fn push(&mut self, code: u16, value: u32, if_true: u8, if_false: u8) {
        self.0.push((code, if_true, if_false, value));
    }

    fn load(&mut self, offset: u32) {
        self.push(LOAD, offset, 0, 0);
    }

    fn give(&mut self, value: u32) {
        self.push(RETURN, value, 0, 0);
    }

    fn refuse(&mut self, number: u32, error: u32) {
        self.push(IF_EQUAL, number, 0, 1);
        self.give(ERROR | error);
    }

    fn bytes(&self) -> Vec<u8> {
        let bytes = |(code, if_true, if_false, value): &(u16, u8, u8, u32)| {
            let mut bytes = code.to_le_bytes().to_vec();
            bytes.extend([*if_true, *if_false]);
            bytes.extend(value.to_le_bytes());
            bytes
        };
        self.0.iter().flat_map(bytes).collect()
    }
}

/// The filter as a BPF program.
pub(crate) fn filter(machine: Machine) -> Vec<u8> {
    let mut program = Program::default();
    // Another machine's calls, such as i386 by `int 0x80`, have other numbers.
    program.load(MACHINE);
    program.push(IF_EQUAL, machine.audit_number(), 1, 0);
    program.give(KILL_PROCESS);
    program.load(NUMBER);
    if machine == Machine::X86 {
        // The x32 calls repeat the others under other numbers.
        program.push(IF_AT_LEAST, 0x4000_0000, 0, 1);
        program.give(ERROR | ENOSYS);
    }
    for (_, x86, arm, error) in CALLS {
        if let Some(number) = machine.of((x86, arm)) {
            program.refuse(number, error);
        }
    }
    program.push(IF_EQUAL, machine.of(CLONE), 0, 4);
    program.load(ARGUMENT_0);
    let any_namespace = NAMESPACES.into_iter().fold(0, |all, flag| all | flag);
    program.push(IF_ANY_BIT, any_namespace, 0, 1);
    program.give(ERROR | EPERM);
    program.give(ALLOW);
    program.push(IF_EQUAL, machine.of(IOCTL), 0, 5);
    program.load(ARGUMENT_1);
    program.push(IF_EQUAL, TERMINAL_REQUESTS[0], 1, 0);
    program.push(IF_EQUAL, TERMINAL_REQUESTS[1], 0, 1);
    program.give(ERROR | EPERM);
    program.give(ALLOW);
    for (_, numbers) in SOCKETS {
        program.push(IF_EQUAL, machine.of(numbers), 0, 7);
        program.load(ARGUMENT_0);
        for (family, to_allow) in FAMILIES.into_iter().zip([4, 3, 2, 1]) {
            program.push(IF_EQUAL, family, to_allow, 0);
        }
        program.give(ERROR | EAFNOSUPPORT);
        program.give(ALLOW);
    }
    program.give(ALLOW);
    program.bytes()
}

/// The same rules for `--security-opt seccomp=FILE` of podman and docker.
pub(crate) fn container_profile() -> Value {
    let refuse = |names: Vec<&str>, error: u32| json!({ "names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error });
    let refuse_if = |name: &str, error: u32, argument: Value| json!({ "names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": [argument] });
    let named = |wanted: u32| {
        let calls = CALLS.into_iter().filter(move |call| call.3 == wanted);
        calls.map(|call| call.0).collect::<Vec<_>>()
    };
    let mut rules = vec![refuse(named(ENOSYS), ENOSYS), refuse(named(EPERM), EPERM)];
    rules.extend(NAMESPACES.map(|flag| {
        let any =
            json!({ "index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ" });
        refuse_if("clone", EPERM, any)
    }));
    rules.extend(TERMINAL_REQUESTS.map(|request| {
        let equal = json!({ "index": 1, "value": request, "op": "SCMP_CMP_EQ" });
        refuse_if("ioctl", EPERM, equal)
    }));
    for (name, _) in SOCKETS {
        let others = (0..FAMILIES_END).filter(|family| !FAMILIES.contains(family));
        rules.extend(others.map(|family| {
            let equal = json!({ "index": 0, "value": family, "op": "SCMP_CMP_EQ" });
            refuse_if(name, EAFNOSUPPORT, equal)
        }));
    }
    json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
        "syscalls": rules,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel does.
    fn ask(filter: &[u8], machine: u32, number: u32, arguments: [u64; 2]) -> u32 {
        let mut data = [number.to_le_bytes(), machine.to_le_bytes()].concat();
        data.extend([0; 8]);
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut loaded) = (0, 0);
        loop {
            let line = &filter[at * 8..at * 8 + 8];
            let code = u16::from_le_bytes([line[0], line[1]]);
            let value = u32::from_le_bytes([line[4], line[5], line[6], line[7]]);
            let jump = |is_so: bool| at + 1 + usize::from(if is_so { line[2] } else { line[3] });
            at = match code {
                LOAD => {
                    let from = value as usize;
                    loaded = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
                    at + 1
                }
                IF_EQUAL => jump(loaded == value),
                IF_AT_LEAST => jump(loaded >= value),
                IF_ANY_BIT => jump(loaded & value != 0),
                RETURN => return value,
                other => panic!("no such instruction: {other}"),
            };
        }
    }

    #[test]
    fn a_call_is_answered_with() {
        let refused = |error: u32| ERROR | error;
        for (name, x86, arm, arguments, expected) in [
            ("read", 0, 63, [0, 0], ALLOW),
            ("execve", 59, 221, [0, 0], ALLOW),
            ("mknod of a FIFO", 259, 33, [0, 0], ALLOW),
            ("mount", 165, 40, [0, 0], refused(EPERM)),
            ("keyctl", 250, 219, [0, 0], refused(EPERM)),
            ("io_uring_setup", 425, 425, [0, 0], refused(ENOSYS)),
            ("clone3", 435, 435, [0, 0], refused(ENOSYS)),
            ("unshare", 272, 97, [0, 0], refused(EPERM)),
            ("clone of a thread", 56, 220, [0x003d_0f00, 0], ALLOW),
            (
                "clone of a user namespace",
                56,
                220,
                [0x1000_0011, 0],
                refused(EPERM),
            ),
            (
                "clone of a network namespace",
                56,
                220,
                [0x4000_0011, 0],
                refused(EPERM),
            ),
            ("ioctl TCGETS", 16, 29, [0, 0x5401], ALLOW),
            ("ioctl TIOCSTI", 16, 29, [0, 0x5412], refused(EPERM)),
            (
                "TIOCSTI with a high half",
                16,
                29,
                [0, 0xffff_0000_5412],
                refused(EPERM),
            ),
            ("ioctl TIOCLINUX", 16, 29, [0, 0x541C], refused(EPERM)),
            ("a unix socket", 41, 198, [1, 0], ALLOW),
            ("an inet6 socket", 41, 198, [10, 0], ALLOW),
            ("a netlink socket", 41, 198, [16, 0], ALLOW),
            ("a packet socket", 41, 198, [17, 0], refused(EAFNOSUPPORT)),
            ("a vsock socket", 41, 198, [40, 0], refused(EAFNOSUPPORT)),
            ("a vsock pair", 53, 199, [40, 0], refused(EAFNOSUPPORT)),
            ("a unix pair", 53, 199, [1, 0], ALLOW),
        ] {
            for (machine, number) in [(Machine::X86, x86), (Machine::Arm, arm)] {
                let answer = ask(&filter(machine), machine.audit_number(), number, arguments);
                assert_eq!(answer, expected, "{name} on {machine:?}");
            }
        }
    }

    #[test]
    fn calls_of_another_machine_are_fatal() {
        let filter = filter(Machine::X86);
        assert_eq!(ask(&filter, 0x4000_0003, 20, [0, 0]), KILL_PROCESS);
        let x32 = ask(
            &filter,
            Machine::X86.audit_number(),
            0x4000_0000 + 39,
            [0, 0],
        );
        assert_eq!(x32, ERROR | ENOSYS);
    }

    #[test]
    fn containers_refuse_the_same_calls() {
        let profile = container_profile();
        let rules = profile["syscalls"].as_array().unwrap();
        let plain = |rule: &&Value| rule.get("args").is_none();
        let n_named: usize = rules
            .iter()
            .filter(plain)
            .map(|rule| rule["names"].as_array().unwrap().len())
            .sum();
        assert_eq!(n_named, CALLS.len());
        let vsock = rules
            .iter()
            .find(|rule| rule["args"][0]["value"] == 40)
            .unwrap();
        assert_eq!(vsock["names"], json!(["socket"]));
        assert!(
            !rules
                .iter()
                .any(|rule| rule["names"][0] == "socket" && rule["args"][0]["value"] == 1)
        );
    }
}
