//! The profile of a bwrap jail.
//!
//! The order matters: later mounts cover earlier ones. Options go by a descriptor and variables by
//! `execve`, so that no process inside can read paths of the host or the keeper's environment.

use std::path::Path;

use super::command::{CommandSpec, FILTER_FD, Jail, OPTIONS_FD, text};
use super::seccomp::{Machine, filter};
use super::spec::{Access, HOME, Mount, Network, WORKSPACE};

/// The size of `/tmp`. Without a bound it could take all memory.
const TMP_BYTES: u64 = 2 << 30;

/// The size of `/dev/shm`.
const SHM_BYTES: u64 = 256 << 20;

/// The size of a home folder that is not a mount.
const HOME_BYTES: u64 = 1 << 30;

pub(super) fn wrap(jail: &Jail<'_>, command: CommandSpec) -> CommandSpec {
    let mut args = vec!["--args".to_owned(), OPTIONS_FD.to_owned(), "--".to_owned()];
    args.extend(jail.shim_line(&command));
    CommandSpec {
        program: text(jail.program),
        args,
        env: command.env,
        cwd: "/".into(),
        options: Some(options(jail, &command.cwd)),
        filter: Machine::ours().map(filter),
        inside_env: None,
    }
}

fn options(jail: &Jail<'_>, cwd: &Path) -> Vec<String> {
    let mut options = Options::default();
    options.isolate(&jail.spec.network, jail.abilities.disable_userns);
    options.system(&jail.spec.mounts);
    options.mounts(&jail.spec.mounts);
    if matches!(jail.spec.network, Network::Open) {
        options.names();
    }
    for (host, inside) in jail.own_files() {
        options.add(&["--ro-bind", &text(host), inside]);
    }
    options.add(&["--remount-ro", "/", "--seccomp", FILTER_FD]);
    options.add(&["--chdir", &text(cwd)]);
    options.0
}

/// The profile without a shim and without mounts but the system's, to try whether it works here.
pub(crate) fn trial(mounts: &[Mount], disable_userns: bool) -> Vec<String> {
    let mut options = Options::default();
    options.isolate(&Network::None, disable_userns);
    options.system(mounts);
    options.mounts(mounts);
    options.add(&["--remount-ro", "/", "--seccomp", FILTER_FD, "--chdir", "/"]);
    options.0
}

#[derive(Default)]
struct Options(Vec<String>);

impl Options {
    fn add(&mut self, options: &[&str]) {
        self.0
            .extend(options.iter().map(|&option| option.to_owned()));
    }

    fn isolate(&mut self, network: &Network, disable_userns: bool) {
        self.add(&["--unshare-user", "--uid", "1000", "--gid", "1000"]);
        self.add(&["--unshare-ipc", "--unshare-pid", "--unshare-uts"]);
        self.add(&["--unshare-cgroup-try"]);
        match network {
            Network::None | Network::Proxy(_) => self.add(&["--unshare-net"]),
            Network::Open => {}
        }
        self.add(&["--hostname", "jail"]);
        if disable_userns {
            self.add(&["--disable-userns"]);
        }
        self.add(&["--die-with-parent", "--new-session", "--as-pid-1"]);
        self.add(&["--cap-drop", "ALL"]);
    }

    /// The parts that are made anew. Only what the mounts need comes before them.
    fn system(&mut self, mounts: &[Mount]) {
        // As root, `/proc/sys` would be writable without the second option, `core_pattern` with it.
        self.add(&["--proc", "/proc", "--remount-ro", "/proc"]);
        let shm = SHM_BYTES.to_string();
        self.add(&["--dev", "/dev", "--size", &shm, "--tmpfs", "/dev/shm"]);
        self.add(&["--remount-ro", "/dev"]);
        self.add(&["--size", &TMP_BYTES.to_string(), "--tmpfs", "/tmp"]);
        self.add(&["--symlink", "../tmp", "/var/tmp", "--dir", "/run"]);
        if !mounts.iter().any(|mount| mount.inside == Path::new(HOME)) {
            self.add(&["--size", &HOME_BYTES.to_string(), "--tmpfs", HOME]);
        }
        if !mounts
            .iter()
            .any(|mount| mount.inside == Path::new(WORKSPACE))
        {
            self.add(&["--dir", WORKSPACE]);
        }
    }

    fn mounts(&mut self, mounts: &[Mount]) {
        for mount in mounts {
            let (host, inside) = (text(&mount.host), text(&mount.inside));
            match mount.access {
                Access::ReadOnly if is_link(mount, mounts) => {
                    self.add(&["--symlink", &host, &inside]);
                }
                Access::ReadOnly => self.add(&["--ro-bind", &host, &inside]),
                Access::Writable => self.add(&["--bind", &host, &inside]),
            }
        }
    }

    /// How names are looked up on this machine; the prepared `/etc` knows no names.
    fn names(&mut self) {
        for file in ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"] {
            self.add(&["--ro-bind-try", file, file]);
        }
    }
}

/// Whether a mount repeats something of `/usr` at the top, as `/bin` does. A link is cheaper, and is
/// what the system itself has there.
fn is_link(mount: &Mount, mounts: &[Mount]) -> bool {
    let usr = Path::new("/usr");
    let shows_usr = |other: &Mount| other.host == usr && other.inside == usr;
    let is_at_top = mount.inside.parent() == Some(Path::new("/"));
    is_at_top && mount.host != usr && mount.host.starts_with(usr) && mounts.iter().any(shows_usr)
}
