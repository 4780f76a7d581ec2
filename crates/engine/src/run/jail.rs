//! The jail of a run: what of the machine it shows, what it may reach, and how the run's own paths
//! look from inside. Nothing here starts anything; `sandbox` makes a command of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use home::{NetworkPolicy, SandboxKind, SandboxSettings};
use rustix::process::{Resource, getrlimit};
use sandbox::{Access, Allowed, JailKind, JailSpec, Limits, Mount, Network, ProxySpec, Route};

use crate::fault::Fault;
use crate::run::{authorities, downloads};

/// Our own program inside of a jail, for agents that are run through a client of ours.
pub(crate) const CLIENT: &str = "/run/lw/loopwright";

/// Where toolchains lie below the operator's home, and the variable that says so. They are shown at
/// their own paths, read-only. Nothing here may hold a credential.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("RBENV_ROOT", ".rbenv"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright"),
    ("GOROOT", "sdk/go"),
    ("JAVA_HOME", ".sdkman/candidates/java/current"),
];

/// Where an image has its programs.
const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables that name a place of the operator's which no jail shows.
const HIDDEN: &[&str] = &["LOGNAME", "MAIL"];

/// What a jail has besides its run's own files: the same for agents and checks.
pub(crate) struct Ground<'a> {
    settings: &'a SandboxSettings,
    home: Option<PathBuf>,
    state_folder: PathBuf,
}

impl<'a> Ground<'a> {
    /// The jail that a loop's settings ask for.
    pub(crate) fn of(settings: &'a SandboxSettings, state_folder: &Path) -> Self {
        Self {
            settings,
            home: std::env::var_os("HOME").map(PathBuf::from),
            state_folder: state_folder.to_owned(),
        }
    }

    /// Whether runs have the system and the toolchains of an image and not the machine's.
    fn has_image(&self) -> bool {
        matches!(
            self.settings.kind,
            SandboxKind::Podman | SandboxKind::Docker
        )
    }

    /// The environment as it must be inside: a home of its own, and the toolchains where they are.
    pub(crate) fn environment(&self, env: &mut BTreeMap<String, String>) {
        if self.has_image() {
            env.retain(|name, _| !TOOLCHAINS.iter().any(|(toolchain, _)| toolchain == name));
            // A path that the person set for this agent is meant for where it runs.
            let ours = std::env::var("PATH").ok();
            if env.get("PATH") == ours.as_ref() {
                env.insert("PATH".to_owned(), IMAGE_PATH.to_owned());
            }
        } else {
            self.name_toolchains(env);
        }
        env.retain(|name, _| !HIDDEN.contains(&name.as_str()));
        env.insert("HOME".to_owned(), sandbox::HOME.to_owned());
        env.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        env.insert("USER".to_owned(), "agent".to_owned());
        downloads::environment(env);
    }

    /// Says where the toolchains below the operator's home are.
    fn name_toolchains(&self, env: &mut BTreeMap<String, String>) {
        for (name, place) in TOOLCHAINS {
            let below_home = self.home.as_ref().map(|home| home.join(place));
            if let Some(path) = below_home.filter(|path| path.exists()) {
                let path = path.to_string_lossy().into_owned();
                env.entry((*name).to_owned()).or_insert(path);
            }
        }
    }

    /// The machine's part of the mounts, for a run with this environment, which is led to where the
    /// person's authorities are inside.
    pub(crate) fn mounts(&self, env: &mut BTreeMap<String, String>) -> Result<Vec<Mount>, Fault> {
        let authorities = authorities::show(self.home.as_deref(), env);
        let path = env.get("PATH").map(String::as_str).unwrap_or_default();
        let places: BTreeMap<String, PathBuf> = TOOLCHAINS
            .iter()
            .filter_map(|(name, _)| Some(((*name).to_owned(), PathBuf::from(env.get(*name)?))))
            .collect();
        let mut mounts = if self.has_image() {
            Vec::new()
        } else {
            let shown = sandbox::system_mounts(OsStr::new(path), &places, &self.state_folder);
            shown.map_err(|error| Fault::io("look at", &self.state_folder, error))?
        };
        mounts.extend(authorities);
        let folders = std::env::split_paths(path).flat_map(|folder| installation_of(&folder));
        mounts.extend(folders.map(|folder| same(&folder, Access::ReadOnly)));
        let read = self.settings.read.iter();
        mounts.extend(read.map(|place| same(Path::new(place), Access::ReadOnly)));
        let write = self.settings.write.iter();
        mounts.extend(write.map(|place| same(Path::new(place), Access::Writable)));
        Ok(mounts)
    }

    /// The whole jail.
    pub(crate) fn jail(&self, mounts: Vec<Mount>, network: Network) -> Option<JailSpec> {
        let kind = match self.settings.kind {
            SandboxKind::Bwrap => JailKind::Bwrap,
            SandboxKind::Podman => JailKind::Podman,
            SandboxKind::Docker => JailKind::Docker,
            SandboxKind::Host => return None,
        };
        Some(JailSpec {
            kind,
            mounts: without_doubles(mounts),
            layers: None,
            network,
            limits: self.limits(),
            version: sandbox::jail_version(kind),
            image: self.settings.image.clone(),
        })
    }

    fn limits(&self) -> Limits {
        const MEGABYTE: u64 = 1024 * 1024;
        let limits = &self.settings.limits;
        let bytes = |megabytes: u64| megabytes.saturating_mul(MEGABYTE);
        Limits {
            memory_bytes: limits.memory_mb.map(bytes),
            processes: at_most(limits.processes, Resource::Nproc),
            cpu_secs: limits.cpu_secs,
            open_files: at_most(limits.open_files, Resource::Nofile),
            disk_bytes: limits.disk_mb.map(bytes),
            disk_files: None,
        }
    }

    /// What a run may reach. `hosts` are those of its agent's models.
    pub(crate) fn network(&self, policy: NetworkPolicy, hosts: &[&str]) -> Network {
        match policy {
            NetworkPolicy::None => Network::None,
            NetworkPolicy::Open => Network::Open,
            NetworkPolicy::Model => Network::Proxy(self.proxy(hosts)),
        }
    }

    /// What `setup` may reach: the registries, without anything that could be a secret.
    pub(crate) fn registries(&self) -> Network {
        match self.settings.network {
            NetworkPolicy::Open => Network::Open,
            NetworkPolicy::None | NetworkPolicy::Model => Network::Proxy(self.proxy(&[])),
        }
    }

    fn proxy(&self, hosts: &[&str]) -> ProxySpec {
        let own = hosts.iter().flat_map(|host| allowed(host, Privacy::Global));
        let registries = self.settings.registries.iter();
        let named = registries.chain(&self.settings.allow);
        let named = named.filter(|name| !is_address(name));
        let named = named.flat_map(|name| allowed(name, Privacy::MayBePrivate));
        ProxySpec {
            allow: own.chain(named).collect(),
            routes: self.bridges().map(|(_, route)| route).collect(),
            ..ways_out()
        }
    }

    /// The services of this machine that the person allows by their address. The proxy speaks to names
    /// only, so each has a way of its own: what runs inside is told that address instead.
    fn bridges(&self) -> impl Iterator<Item = (&str, Route)> {
        let addresses = self.settings.allow.iter().filter(|name| is_address(name));
        addresses.enumerate().map(|(number, address)| {
            let route = Route {
                name: format!("host{number}"),
                upstream: format!("http://{address}"),
                header: String::new(),
                value_prefix: String::new(),
                key_variable: String::new(),
                extra_headers: BTreeMap::new(),
                paths: Vec::new(),
            };
            (address.as_str(), route)
        })
    }

    /// A text in which the addresses of such services are those that lead there from inside.
    pub(crate) fn bridged(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (address, route) in self.bridges() {
            let inside = format!("{}/~{}", sandbox::PROXY_URL, route.name);
            let port = address.rsplit(':').next().unwrap_or_default();
            for spelled in [address.to_owned(), format!("localhost:{port}")] {
                text = text.replace(&format!("http://{spelled}"), &inside);
            }
        }
        text
    }

    /// What an agent in a role may reach.
    pub(crate) fn policy(&self, role: &str) -> NetworkPolicy {
        self.settings.network_of(role)
    }

    /// Whether keys stay outside.
    pub(crate) fn injects_keys(&self) -> bool {
        self.settings.inject_keys
    }

    /// Whether the person lets a run of this jail reach a host.
    pub(crate) fn allows(&self, host: &str, port: u16) -> bool {
        let named = self.settings.allow.iter().chain(&self.settings.registries);
        let mut named = named.flat_map(|name| allowed(name, Privacy::MayBePrivate));
        named.any(|allowed| allowed.host == host && allowed.port == port)
    }
}

/// Whether a host may have an address of a private network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Privacy {
    Global,
    MayBePrivate,
}

/// `name` stands for the ports of HTTP, `name:port` for one.
fn allowed(name: &str, privacy: Privacy) -> Vec<Allowed> {
    let one = |host: &str, port: u16| Allowed {
        host: host.trim_end_matches('.').to_ascii_lowercase(),
        port,
        may_be_private: privacy == Privacy::MayBePrivate,
    };
    match name.rsplit_once(':') {
        Some((host, port)) => port
            .parse()
            .map(|port| one(host, port))
            .into_iter()
            .collect(),
        None => vec![one(name, 443), one(name, 80)],
    }
}

/// Whether an entry of `allow` is a service of this machine, or another address with its port.
fn is_address(name: &str) -> bool {
    let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
    host == "localhost" || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// How the person's own programs get out of this machine.
pub(crate) fn ways_out() -> ProxySpec {
    ProxySpec {
        upstream_proxy: upstream_proxy(),
        direct: direct(),
        extra_ca: extra_ca(),
        ..ProxySpec::default()
    }
}

/// The proxy that the person's own programs go through.
fn upstream_proxy() -> Option<String> {
    ["https_proxy", "HTTPS_PROXY"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|proxy| !proxy.is_empty())
}

/// The hosts that the person reaches without it.
fn direct() -> Vec<String> {
    let variables = ["no_proxy", "NO_PROXY"];
    let list = variables.iter().find_map(|name| std::env::var(name).ok());
    let list = list.unwrap_or_default();
    let hosts = list.split(',').map(str::trim);
    hosts
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The authorities that the person's own programs trust besides the system's.
fn extra_ca() -> Option<PathBuf> {
    let file =
        std::env::var_os("SSL_CERT_FILE").or_else(|| std::env::var_os("NODE_EXTRA_CA_CERTS"));
    file.map(PathBuf::from).filter(|file| file.is_file())
}

/// A place of the checkout, as it is seen inside.
pub(crate) fn inside(below: &Path) -> PathBuf {
    let workspace = Path::new(sandbox::WORKSPACE);
    // Joined with nothing, a path would end in a slash, and some tools compare paths as text.
    if below.as_os_str().is_empty() {
        workspace.to_owned()
    } else {
        workspace.join(below)
    }
}

/// A mount at the path that it has outside.
pub(crate) fn same(path: &Path, access: Access) -> Mount {
    Mount {
        host: path.to_owned(),
        inside: path.to_owned(),
        access,
    }
}

/// A limit that we may set: nobody but root can raise what we were given ourselves.
fn at_most(wanted: Option<u64>, resource: Resource) -> Option<u64> {
    let own = getrlimit(resource).maximum;
    wanted.map(|wanted| own.map_or(wanted, |own| wanted.min(own)))
}

/// What must be seen for a program to run: the file that it is, and the packages around it where it is
/// one of npm's. Nothing else of the folders that it lies in.
pub(crate) fn program_mounts(program: &str) -> Vec<Mount> {
    let path = Path::new(program);
    let runs = fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if !path.is_absolute() || !runs {
        return Vec::new();
    }
    let mut shown = installation_of(path);
    if let Ok(whole) = fs::canonicalize(path) {
        shown.extend(installation_of(&whole));
        shown.push(whole);
    }
    shown.push(path.to_owned());
    let shown = shown.iter().filter(|path| !is_below_usr(path));
    shown.map(|path| same(path, Access::ReadOnly)).collect()
}

/// The outermost `node_modules` that a path lies in: its links lead to other packages there.
fn installation_of(path: &Path) -> Vec<PathBuf> {
    let mut here = PathBuf::new();
    for part in path.components() {
        here.push(part);
        if part == Component::Normal(OsStr::new("node_modules")) {
            return vec![here];
        }
    }
    Vec::new()
}

fn is_below_usr(path: &Path) -> bool {
    path.starts_with("/usr")
}

/// The same place twice is shown once, and writable if it was asked for once.
fn without_doubles(mounts: Vec<Mount>) -> Vec<Mount> {
    let writable: BTreeSet<PathBuf> = mounts
        .iter()
        .filter(|mount| mount.access == Access::Writable)
        .map(|mount| mount.inside.clone())
        .collect();
    let mut seen = BTreeSet::new();
    mounts
        .into_iter()
        .filter(|mount| mount.access == Access::Writable || !writable.contains(&mount.inside))
        .filter(|mount| seen.insert(mount.inside.clone()))
        .collect()
}
