//! What a jail is to be: its kind, what it shows of this machine, its network and its limits.
//!
//! Plain data, written into `spec.json`. Keys are never here: a route names the variable that holds
//! its key, and the keeper looks the value up in `pass_env_file`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the checkout is inside every jail.
pub const WORKSPACE: &str = "/workspace";

/// The home folder inside every jail.
pub const HOME: &str = "/home/agent";

/// The port of the bridge to the proxy, on the jail's own loopback.
pub const PROXY_PORT: u16 = 8119;

/// The address of the proxy inside a jail.
pub const PROXY_URL: &str = "http://127.0.0.1:8119";

/// One jail, for one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JailSpec {
    /// The program that makes the jail.
    pub kind: JailKind,
    /// What of this machine is visible inside, in the order in which it is mounted.
    pub mounts: Vec<Mount>,
    /// Layers that are mounted before the jail is made; one of `mounts` shows the folder at which
    /// they are seen. Only bwrap can have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Layers>,
    /// What the program can reach.
    pub network: Network,
    /// What the program may use.
    #[serde(default)]
    pub limits: Limits,
    /// The version of the program that makes the jail, where whoever asks for the jail knows it. Else the
    /// keeper asks the program, which takes a process for each run.
    // Added later: an older spec does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<(u32, u32)>,
    /// The image of a container; bwrap has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// The program that makes a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JailKind {
    /// `bwrap`: namespaces on this machine's own system.
    Bwrap,
    /// A container of `podman`.
    Podman,
    /// A container of `docker`.
    Docker,
}

impl JailKind {
    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }
}

/// A file or folder of this machine inside a jail.
///
/// Where the mount point lies inside another mount that is writable, it must exist there already:
/// making it would leave an empty file or folder behind on the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Its path on this machine.
    pub host: PathBuf,
    /// Its path inside.
    pub inside: PathBuf,
    /// What the program may do with it.
    pub access: Access,
}

/// Folders that are seen as one: where two have the same name, the upper one's is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The empty folder at which they are seen.
    pub at: PathBuf,
    /// The folders that nobody changes, the uppermost first; at least two where there are no changes.
    pub lower: Vec<PathBuf>,
    /// Where changes go; without it nothing can be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// The uppermost layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// What was written, and a mark for everything that was removed.
    pub upper: PathBuf,
    /// The kernel's own folder, on the same file system.
    pub work: PathBuf,
}

/// What a jailed program may do with a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read only.
    ReadOnly,
    /// Read and write.
    Writable,
}

/// What a jailed program can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback of its own and nothing else.
    None,
    /// Its own loopback, and a list of hosts through the keeper's proxy at [`PROXY_URL`].
    Proxy(ProxySpec),
    /// The network of this machine, its loopback and its abstract sockets included.
    Open,
}

/// The rules of the proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxySpec {
    /// The hosts that may be reached.
    #[serde(default)]
    pub allow: Vec<Allowed>,
    /// Fixed upstreams to which the proxy adds a key.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// The person's own proxy, as `http://[user:password@]host[:port]`; every connection goes
    /// through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_proxy: Option<String>,
    /// Hosts that are reached without `upstream_proxy`, as in the person's `NO_PROXY`: names, which
    /// stand for everything below them too, or `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub direct: Vec<String>,
    /// The access to all routes ends after so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_max: Option<u64>,
    /// A PEM file with authorities that routes trust besides the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_ca: Option<PathBuf>,
    /// What the answers through all routes may cost together: the access ends when it is used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Box<Balance>>,
    /// The hosts without which the run cannot do its work. If one of them is refused, the run is ended:
    /// some programs would ask for it again for ever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<String>,
}

/// What a run may still use. Where both are there, whatever is used up first ends the access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    /// Tokens of every kind together.
    pub tokens: Option<u64>,
    /// Money, in millionths of a dollar, with what tokens cost.
    pub money: Option<(u64, Rates)>,
}

/// What a million tokens cost, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// Input that no cache has.
    pub input: u64,
    /// Input from a cache.
    pub cached: u64,
    /// Output.
    pub output: u64,
}

/// Tokens that the answers through a proxy's routes told of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensUsed {
    /// Input that no cache had.
    pub input: u64,
    /// Input from a cache.
    pub cached: u64,
    /// Output.
    pub output: u64,
}

/// One host that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// Its exact name.
    pub host: String,
    /// Its exact port.
    pub port: u16,
    /// Whether it may have an address that is not public, as a company's mirror has.
    #[serde(default)]
    pub may_be_private: bool,
}

/// A fixed upstream, reached inside as `http://127.0.0.1:8119/~NAME/…`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Its name in the path.
    pub name: String,
    /// Where it leads, as `https://host[:port]/prefix`.
    pub upstream: String,
    /// The header that carries the key, such as `authorization`.
    pub header: String,
    /// What stands before the key in the header, such as `Bearer `.
    #[serde(default)]
    pub value_prefix: String,
    /// The variable in `pass_env_file` whose value is the key; empty for an upstream that needs none of
    /// ours.
    pub key_variable: String,
    /// Headers that are set on every request.
    #[serde(default)]
    pub extra_headers: BTreeMap<String, String>,
    /// The paths that may be asked for, without the query. A path that ends in `*` allows
    /// everything that begins like it. An empty list allows every path.
    #[serde(default)]
    pub paths: Vec<String>,
}

/// What a jailed program and everything that it starts may use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads at the same time, the few of our own first process included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Seconds of processor time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_secs: Option<u64>,
    /// Open files of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Bytes in all writable mounts together; also the size of one file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Files and folders in all writable mounts together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_files: Option<u64>,
}

/// A limit that a run has hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitHit {
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::processes`].
    Processes,
    /// [`Limits::cpu_secs`].
    Cpu,
    /// [`Limits::open_files`].
    OpenFiles,
    /// [`Limits::disk_bytes`] or [`Limits::disk_files`].
    Disk,
    /// [`ProxySpec::requests_max`] or [`ProxySpec::balance`].
    Requests,
}

/// A connection that the proxy refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refused {
    /// The host as it was asked for, cut to a bounded length.
    pub host: String,
    /// The port, or 0 if none could be read.
    pub port: u16,
    /// Why it was refused.
    pub why: Refusal,
}

/// Why the proxy refused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The request is not well-formed HTTP/1, or ambiguous.
    BadRequest,
    /// The host cannot be the name of a host.
    BadHost,
    /// The host is an address; only names can be on the list.
    IpLiteral,
    /// The host and port are not on the list.
    NotListed,
    /// The name leads to an address that is not public.
    PrivateAddress,
    /// There is no such route, or the path is not one of its paths.
    BadRoute,
    /// The tunnel was not used for TLS with the host that it was opened for.
    OtherTlsName,
    /// The run's requests, or what it may cost, are used up.
    RequestsUsedUp,
}

/// The variables by which programs inside find the proxy. `curl` and `git` read the lower-case
/// names only, others either.
pub fn proxy_environment() -> BTreeMap<String, String> {
    let to_proxy = [
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let to_proxy = to_proxy.map(|name| (name, PROXY_URL));
    // Node 22 reads the others only with this one.
    let others = [
        ("no_proxy", "localhost,127.0.0.1,::1"),
        ("NO_PROXY", "localhost,127.0.0.1,::1"),
        ("NODE_USE_ENV_PROXY", "1"),
    ];
    let all = to_proxy.into_iter().chain(others);
    all.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
