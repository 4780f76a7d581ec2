//! A command, and everything that its rewrite into a jailed command depends on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::spec::{JailSpec, Limits, Network, PROXY_PORT};

/// The hidden command by which our own program becomes the first process of a jail.
pub const SHIM_COMMAND: &str = "jail-shim";

/// The hidden command by which our own program mounts layers and then becomes the jail's program.
pub const LAYERS_COMMAND: &str = "jail-layers";

/// Where the shim, its line to the keeper, the bridge to the proxy and the standard input are inside.
pub(crate) const SHIM: &str = "/run/lw/shim";
pub(crate) const ALIVE: &str = "/run/lw/alive";
pub(crate) const NET: &str = "/run/lw/net";
pub(crate) const STDIN: &str = "/run/lw/stdin";

/// Stands in `args` and `options` for the number of the descriptor that has `options`.
pub const OPTIONS_FD: &str = "<options>";

/// Stands in `args` and `options` for the number of the descriptor that has `filter`.
pub const FILTER_FD: &str = "<filter>";

/// A command that is about to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program: a path, or a name to be found in the `PATH` of `env`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Further options, separated by NUL, to be given by a descriptor: other processes can see
    /// arguments.
    pub options: Option<Vec<String>>,
    /// A system call filter to be given by a descriptor.
    pub filter: Option<Vec<u8>>,
    /// The environment that the shim gives to the program, where it is not that of the command.
    pub inside_env: Option<BTreeMap<String, OsString>>,
}

/// Everything that a rewrite depends on.
#[derive(Debug, Clone)]
pub struct Jail<'a> {
    /// What the jail is to be.
    pub spec: &'a JailSpec,
    /// The path of the program that makes it.
    pub program: &'a Path,
    /// What that program can do.
    pub abilities: Abilities,
    /// Our own program on the host, which becomes the shim.
    pub shim: &'a Path,
    /// The socket of the shim's line to the keeper.
    pub alive: &'a Path,
    /// The socket of the proxy.
    pub net: Option<&'a Path>,
    /// The file that becomes the standard input.
    pub stdin: Option<&'a Path>,
    /// The run folder, which is the label of a container.
    pub run_dir: &'a Path,
    /// The name of a container.
    pub name: &'a str,
    /// The environment of the program that makes a container.
    pub client_env: BTreeMap<String, OsString>,
    /// The file with the system call filter for containers.
    pub container_filter: Option<&'a Path>,
}

/// What the installed version of a jail's program can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// `bwrap --disable-userns`, since 0.8. Without it the system call filter alone refuses new user
    /// namespaces.
    pub disable_userns: bool,
    /// The user and group that a container must run as, so that it can write the mounts.
    pub container_user: Option<(u32, u32)>,
    /// Whether the container program works without root, so that our user can be kept inside.
    pub is_rootless: bool,
    /// Whether the kernel has IPv6.
    pub has_ipv6: bool,
}

/// One file may take this much more than all of them together: a program whose one file ends right at
/// the bound would use all that it may, and nobody would tell it.
const BEYOND: u64 = 1 << 20;

impl Jail<'_> {
    /// The shim's command line, with the command behind it.
    pub(super) fn shim_line(&self, command: &CommandSpec) -> Vec<String> {
        let mut line = vec![SHIM.to_owned(), SHIM_COMMAND.to_owned()];
        if matches!(self.spec.network, Network::Proxy(_)) {
            line.push(format!("port={PROXY_PORT}"));
        }
        if self.stdin.is_some() {
            line.push(format!("stdin={STDIN}"));
        }
        let Limits {
            processes,
            cpu_secs,
            open_files,
            disk_bytes,
            ..
        } = self.spec.limits;
        for (name, limit) in [
            ("processes", processes),
            ("cpu_secs", cpu_secs),
            ("open_files", open_files),
            (
                "file_bytes",
                disk_bytes.map(|bytes| bytes.saturating_add(BEYOND)),
            ),
        ] {
            line.extend(limit.map(|limit| format!("{name}={limit}")));
        }
        line.push("--".to_owned());
        line.push(command.program.clone());
        line.extend(command.args.iter().cloned());
        line
    }

    /// The sockets and files that every jail has beside the mounts of its spec.
    pub(super) fn own_files(&self) -> Vec<(&Path, &'static str)> {
        let mut files = vec![(self.shim, SHIM), (self.alive, ALIVE)];
        files.extend(self.net.map(|net| (net, NET)));
        files.extend(self.stdin.map(|stdin| (stdin, STDIN)));
        files
    }
}

/// A path as an argument. Paths of ours are checked to be text before they come here.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
