//! Which jail a loop's agents and checks run in: what the configuration asks for, tried on this
//! machine. Nothing falls back to the host by itself: a machine that refuses is a reason to stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use home::{NetworkPolicy, SandboxKind, SandboxLimits, SandboxSettings};
use sandbox::JailKind;

use super::finding::Finding;
use super::registries;
use crate::config::{Config, JAILS, SandboxConfig};
use crate::failure::{Exit, Failure};

/// What `host` means, in the words that every screen uses.
pub(crate) const ON_HOST: &str = "run on this host with your rights, in no sandbox";

/// Where agents and checks run, for a screen.
pub(crate) fn words(kind: &str) -> String {
    match kind {
        "host" => ON_HOST.to_owned(),
        kind => format!("run in a jail of {kind}"),
    }
}

/// Where they ran, once the loop is over.
pub(crate) fn past_words(kind: &str) -> String {
    words(kind).replacen("run", "ran", 1)
}

/// The part of the machine's memory that one run may use where nobody says otherwise.
const MEMORY_SHARE: (u64, u64) = (3, 4);

/// The jail of a loop that is started with this configuration, or why there is none.
pub(crate) fn settle(config: &Config, project: &Path) -> Result<SandboxSettings, Failure> {
    let wanted = &config.sandbox;
    let kind = kind_of(wanted).map_err(Refusal::failure)?;
    if kind == SandboxKind::Host {
        return Ok(SandboxSettings::host());
    }
    let network = |word: &Option<String>| word.as_deref().and_then(NetworkPolicy::of_word);
    let roles = config.roles.all().into_iter();
    let roles: BTreeMap<String, NetworkPolicy> = roles
        .filter_map(|(role, told)| Some((role.to_owned(), network(&told.network)?)))
        .collect();
    Ok(SandboxSettings {
        kind,
        network: network(&wanted.network).unwrap_or(NetworkPolicy::Model),
        roles,
        allow: wanted.allow.clone(),
        registries: registries::of_project(project),
        read: places(wanted.read.iter().chain(&config.agent_scripts), project)?,
        write: places(wanted.write.iter(), project)?,
        image: wanted.image.clone(),
        inject_keys: wanted.inject_keys.unwrap_or(true),
        limits: SandboxLimits {
            memory_mb: wanted.memory_mb.or_else(share_of_memory),
            processes: wanted.processes,
            cpu_secs: wanted.cpu,
            open_files: wanted.open_files,
            disk_mb: wanted.disk_mb,
        },
    })
}

/// What `doctor` says about the jail that the configuration asks for.
pub(crate) fn finding(wanted: &SandboxConfig) -> Finding {
    match kind_of(wanted) {
        Ok(SandboxKind::Host) => Finding::warning(
            "sandbox",
            format!("none, as configured: agents and checks {ON_HOST}"),
            "leave `[sandbox] kind` out, and they run in a jail",
        ),
        Ok(kind) => Finding::well(
            "sandbox",
            format!("agents and checks run in a jail of {}", kind.word()),
        ),
        Err(refusal) => Finding::bad("sandbox", refusal.why, refusal.remedy),
    }
}

/// The jail of the demo, whose agents are our own scripts: the best that there is on this machine, or
/// none, which it says.
pub(crate) fn kind_for_demo() -> SandboxKind {
    kind_of(&SandboxConfig::default()).unwrap_or(SandboxKind::Host)
}

/// Why the jail that was asked for cannot be used.
struct Refusal {
    why: String,
    remedy: String,
}

impl Refusal {
    fn failure(self) -> Failure {
        Failure {
            exit: Exit::Environment,
            message: format!("no jail for agents and checks: {}", self.why),
            hints: vec![
                self.remedy,
                "`--sandbox host` starts the loop without a jail: agents then have all of your rights"
                    .to_owned(),
            ],
        }
    }
}

fn kind_of(wanted: &SandboxConfig) -> Result<SandboxKind, Refusal> {
    let kind = match wanted.kind.as_deref() {
        None | Some("auto") => SandboxKind::Bwrap,
        Some(word) => SandboxKind::of_word(word).ok_or_else(|| Refusal {
            why: format!("there is no kind of jail `{word}`"),
            remedy: format!("set `[sandbox] kind` to one of: {}", JAILS.join(", ")),
        })?,
    };
    let Some(jail) = jail_of(kind) else {
        return Ok(kind);
    };
    match sandbox::probe(jail) {
        Ok(_) => Ok(kind),
        Err(unusable) => Err(Refusal {
            why: unusable.why(),
            remedy: unusable.remedy(),
        }),
    }
}

/// The jail that stands for a word of the configuration, if there is one.
pub(crate) fn jail_of(kind: SandboxKind) -> Option<JailKind> {
    match kind {
        SandboxKind::Bwrap => Some(JailKind::Bwrap),
        SandboxKind::Podman => Some(JailKind::Podman),
        SandboxKind::Docker => Some(JailKind::Docker),
        SandboxKind::Host => None,
    }
}

/// The places as absolute paths: `~` is the person's home, and what is relative is the project's.
fn places<'a>(
    named: impl Iterator<Item = &'a String>,
    project: &Path,
) -> Result<Vec<String>, Failure> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let place = |name: &String| -> Result<String, Failure> {
        let path = match (name.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            _ => project.join(name),
        };
        let missing = |error| {
            let what = format!("`[sandbox]` names `{name}`, which cannot be found");
            Failure {
                exit: Exit::BadInput,
                ..Failure::environment(&what, &error)
            }
        };
        let path = std::fs::canonicalize(&path).map_err(missing)?;
        path.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::bad_input(format!("the path `{}` is not UTF-8", path.display()))
        })
    };
    named.map(place).collect()
}

/// One run must not take the whole machine down; with no memory to be read there is no limit.
fn share_of_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024 * MEMORY_SHARE.0 / MEMORY_SHARE.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_jail_that_can_be_named_is_one() {
        for word in JAILS.iter().filter(|word| **word != "auto") {
            let kind = SandboxKind::of_word(word).map(SandboxKind::word);
            assert_eq!(kind, Some(*word));
        }
        let wanted = SandboxConfig {
            kind: Some("bubble".to_owned()),
            ..SandboxConfig::default()
        };
        let refusal = kind_of(&wanted).expect_err("no such jail");
        assert!(refusal.why.contains("`bubble`"), "{}", refusal.why);
    }
}
