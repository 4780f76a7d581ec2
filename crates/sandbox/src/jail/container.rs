//! The command line of a container that is the same jail.
//!
//! The container has a name and a label of its run, so that a stray is found after a crash. The
//! program's environment is not on the command line, nor in what `inspect` shows: the shim gets it
//! over its line to the keeper.

use std::path::Path;

use super::command::{CommandSpec, Jail, text};
use super::spec::{Access, HOME, JailKind, Mount, Network};

/// The variables by which the programs that make containers find their service and their storage. Whoever
/// starts a keeper with an environment of its own must pass them on.
pub const ENGINE_VARIABLES: [&str; 15] = [
    "CONTAINERS_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_CONNECTION",
    "CONTAINER_HOST",
    "CONTAINER_SSHKEY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The label of every container of ours; its value is the run folder.
pub const CONTAINER_LABEL: &str = "dev.loopwright.run";

/// The image of a container whose spec names none.
pub const DEFAULT_IMAGE: &str = "localhost/loopwright-runner:1";

pub(super) fn wrap(jail: &Jail<'_>, command: CommandSpec) -> CommandSpec {
    let mut args = Args::default();
    args.add(&["run", "--rm", "--pull=never", "--log-driver=none"]);
    args.add(&["--name", jail.name]);
    args.add(&[
        "--label",
        &format!("{CONTAINER_LABEL}={}", text(jail.run_dir)),
    ]);
    args.isolate(jail);
    args.limits(jail);
    for mount in &jail.spec.mounts {
        args.mount(&mount.host, &text(&mount.inside), mount.access);
    }
    for (host, inside) in jail.own_files() {
        args.mount(host, inside, Access::ReadOnly);
    }
    args.add(&["--workdir", &text(&command.cwd)]);
    let line = jail.shim_line(&command);
    args.add(&["--entrypoint", &line[0]]);
    let image = jail.spec.image.as_deref().unwrap_or(DEFAULT_IMAGE);
    args.add(&[image]);
    args.0.extend(line.into_iter().skip(1));
    CommandSpec {
        program: text(jail.program),
        args: args.0,
        env: jail.client_env.clone(),
        cwd: "/".into(),
        options: None,
        filter: None,
        inside_env: Some(command.env),
    }
}

#[derive(Default)]
struct Args(Vec<String>);

impl Args {
    fn add(&mut self, args: &[&str]) {
        self.0.extend(args.iter().map(|&arg| arg.to_owned()));
    }

    fn isolate(&mut self, jail: &Jail<'_>) {
        match jail.spec.network {
            Network::None | Network::Proxy(_) => self.add(&["--network=none"]),
            Network::Open => self.add(&["--network=host"]),
        }
        self.add(&["--cap-drop=all", "--security-opt=no-new-privileges"]);
        let filter = jail.container_filter.map(text).unwrap_or_default();
        self.add(&["--security-opt", &format!("seccomp={filter}")]);
        self.add(&["--read-only", "--hostname=jail", "--shm-size=256m"]);
        for (folder, room) in [("/tmp", "2g"), ("/var/tmp", "1g"), (HOME, "1g")] {
            // Engines refuse two things at one place.
            let is_shown = |mount: &Mount| mount.inside == Path::new(folder);
            if !jail.spec.mounts.iter().any(is_shown) {
                let options = format!("{folder}:rw,exec,nosuid,nodev,size={room},mode=1777");
                self.add(&["--tmpfs", &options]);
            }
        }
        if jail.spec.kind == JailKind::Podman {
            // Otherwise it copies the proxy variables of this machine into the container.
            self.add(&["--http-proxy=false"]);
            // It would make `/run` writable, where the shim and the sockets are.
            self.add(&["--read-only-tmpfs=false"]);
            if jail.abilities.is_rootless {
                self.add(&["--userns=keep-id:uid=1000,gid=1000"]);
            }
        }
        let has_own_network = !matches!(jail.spec.network, Network::Open);
        if jail.spec.kind == JailKind::Docker && jail.abilities.has_ipv6 && has_own_network {
            // Docker turns it off, also on the loopback, where servers in tests listen.
            self.add(&["--sysctl=net.ipv6.conf.all.disable_ipv6=0"]);
        }
        if let Some((user, group)) = jail.abilities.container_user {
            self.add(&["--user", &format!("{user}:{group}")]);
        }
    }

    fn limits(&mut self, jail: &Jail<'_>) {
        if let Some(bytes) = jail.spec.limits.memory_bytes {
            let bytes = bytes.to_string();
            self.add(&["--memory", &bytes, "--memory-swap", &bytes]);
        }
        if let Some(processes) = jail.spec.limits.processes {
            self.add(&["--pids-limit", &processes.to_string()]);
        }
    }

    fn mount(&mut self, host: &Path, inside: &str, access: Access) {
        let source = quoted(&format!("source={}", text(host)));
        let target = quoted(&format!("target={inside}"));
        let read_only = match access {
            Access::ReadOnly => ",readonly",
            Access::Writable => "",
        };
        self.add(&[
            "--mount",
            &format!("type=bind,{source},{target}{read_only}"),
        ]);
    }
}

/// A field of the comma-separated list that `--mount` takes.
fn quoted(field: &str) -> String {
    if field.contains([',', '"']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
