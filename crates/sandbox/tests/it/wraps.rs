//! The whole command line of each kind of jail, without running it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use sandbox::{
    Abilities, Access, CommandSpec, HOME, Jail, JailKind, JailSpec, Limits, Mount, Network,
    ProxySpec, WORKSPACE,
};

fn mount(host: &str, inside: &str, access: Access) -> Mount {
    Mount {
        host: host.into(),
        inside: inside.into(),
        access,
    }
}

fn spec(kind: JailKind, network: Network) -> JailSpec {
    let system = [
        mount("/usr", "/usr", Access::ReadOnly),
        mount("/usr/bin", "/bin", Access::ReadOnly),
        mount("/state/jail/etc-1", "/etc", Access::ReadOnly),
    ];
    let own = [
        mount("/state/runs/1/home", HOME, Access::Writable),
        mount("/state/runs/1/check,out", WORKSPACE, Access::Writable),
    ];
    JailSpec {
        kind,
        mounts: system.into_iter().chain(own).collect(),
        layers: None,
        network,
        limits: Limits {
            memory_bytes: Some(4_000_000_000),
            processes: Some(512),
            cpu_secs: None,
            open_files: Some(4096),
            disk_bytes: Some(10_000_000_000),
            disk_files: None,
        },
        image: Some("localhost/runner:1".to_owned()),
        version: None,
    }
}

/// Shows a rewrite, one option per line.
fn wrapped(spec: &JailSpec, abilities: Abilities) -> String {
    let program = Path::new("/usr/bin").join(spec.kind.program());
    let jail = Jail {
        spec,
        program: &program,
        abilities,
        shim: Path::new("/usr/bin/loopwright"),
        alive: Path::new("/state/runs/1/alive.sock"),
        net: matches!(spec.network, Network::Proxy(_))
            .then_some(Path::new("/state/runs/1/net.sock")),
        stdin: Some(Path::new("/state/runs/1/prompt.md")),
        run_dir: Path::new("/state/runs/1"),
        name: "loopwright-0123456789abcdef",
        client_env: BTreeMap::from([("HOME".to_owned(), OsString::from("/home/ada"))]),
        container_filter: (spec.kind != JailKind::Bwrap)
            .then_some(Path::new("/state/runs/1/seccomp.json")),
    };
    let command = jail.wrap(CommandSpec {
        program: "claude".to_owned(),
        args: vec!["-p".to_owned(), "two words".to_owned()],
        env: BTreeMap::from([("SECRET".to_owned(), OsString::from("value"))]),
        cwd: WORKSPACE.into(),
        ..CommandSpec::default()
    });
    let lines = |words: &[String]| -> String {
        let start = |word: &String| word.starts_with("--") || word.starts_with("/run/lw");
        let mut text = String::new();
        for word in words {
            text += if start(word) { "\n  " } else { " " };
            text += word;
        }
        text
    };
    format!(
        "{}{}\noptions:{}\nfilter: {}\nenv: {:?}\ninside: {:?}\ncwd: {}",
        command.program,
        lines(&command.args),
        lines(command.options.as_deref().unwrap_or_default()),
        command.filter.is_some(),
        command.env,
        command.inside_env,
        command.cwd.display(),
    )
}

#[test]
fn a_bwrap_jail_is_this_command() {
    let spec = spec(JailKind::Bwrap, Network::Proxy(ProxySpec::default()));
    let abilities = Abilities {
        disable_userns: true,
        ..Abilities::default()
    };
    insta::assert_snapshot!(wrapped(&spec, abilities));
}

#[test]
fn an_open_bwrap_jail_without_mounts_is_this_command() {
    let spec = JailSpec {
        mounts: Vec::new(),
        limits: Limits::default(),
        ..spec(JailKind::Bwrap, Network::Open)
    };
    insta::assert_snapshot!(wrapped(&spec, Abilities::default()));
}

#[test]
fn a_podman_jail_is_this_command() {
    let spec = spec(JailKind::Podman, Network::None);
    let abilities = Abilities {
        is_rootless: true,
        ..Abilities::default()
    };
    insta::assert_snapshot!(wrapped(&spec, abilities));
}

#[test]
fn a_docker_jail_is_this_command() {
    let spec = spec(JailKind::Docker, Network::Proxy(ProxySpec::default()));
    let abilities = Abilities {
        container_user: Some((1000, 100)),
        has_ipv6: true,
        ..Abilities::default()
    };
    insta::assert_snapshot!(wrapped(&spec, abilities));
}

/// Engines refuse two things at one place.
#[test]
fn a_folder_that_is_shown_has_no_other_in_a_container() {
    for kind in [JailKind::Podman, JailKind::Docker] {
        let mut spec = spec(kind, Network::None);
        for inside in ["/tmp", "/var/tmp"] {
            spec.mounts
                .push(mount("/state/runs/1/tmp", inside, Access::Writable));
        }
        let command = wrapped(&spec, Abilities::default());
        for inside in ["/tmp", "/var/tmp", HOME] {
            let shown = format!("target={inside}");
            assert_eq!(command.matches(&shown).count(), 1, "{command}");
            let other = format!("--tmpfs {inside}:");
            assert_eq!(command.matches(&other).count(), 0, "{command}");
        }
    }
}
