//! Tries whether a kind of jail works on this machine, and explains why not.
//!
//! It runs the profile with `true`. What bwrap says when it fails is read here, since it has no
//! other way to tell; everything else of ours branches on [`Unusable`].

use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

use super::bwrap;
use super::command::{Abilities, FILTER_FD};
use super::find::{abilities, find_program, version};
use super::seccomp::{Machine, filter};
use super::spec::{Access, JailKind, Mount};

/// How much of what a program said is shown.
const SAID_CHARS_MAX: usize = 400;

/// A kind of jail that works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The kind of jail.
    pub kind: JailKind,
    /// The path of its program.
    pub program: PathBuf,
    /// The version of its program.
    pub version: String,
}

/// Why a kind of jail does not work here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// Its program is not installed.
    MissingProgram {
        /// The kind of jail.
        kind: JailKind,
    },
    /// Its program is too old for the options that we need.
    TooOld {
        /// The version found.
        version: String,
    },
    /// `AppArmor` forbids unprivileged user namespaces, as on Ubuntu since 23.10.
    AppArmor,
    /// The kernel does not allow user namespaces to us.
    NoUserNamespaces,
    /// The number of namespaces is used up or set to zero.
    NamespacesUsedUp,
    /// We are inside a container whose own filter forbids namespaces.
    InsideContainer,
    /// Parts of `/proc` are covered, so that no new one can be mounted.
    MaskedProc,
    /// `/proc` has no `sys`, as in a unit with `ProcSubset=pid`.
    NoProcSys,
    /// There is no system call filter for this kind of machine.
    UnknownMachine,
    /// The container program is there, but its service does not answer.
    ServiceDown {
        /// The kind of jail.
        kind: JailKind,
        /// What its program said.
        said: String,
    },
    /// Something else.
    Other {
        /// The kind of jail.
        kind: JailKind,
        /// What its program said.
        said: String,
    },
}

impl Unusable {
    /// What is wrong, as a phrase.
    pub fn why(&self) -> String {
        match self {
            Self::MissingProgram { kind } => format!("`{}` is not installed", kind.program()),
            Self::TooOld { version } => format!("bwrap {version} is too old"),
            Self::AppArmor => "AppArmor forbids user namespaces to bwrap".to_owned(),
            Self::NoUserNamespaces => "this system does not allow user namespaces".to_owned(),
            Self::NamespacesUsedUp => {
                "no more namespaces may be made (user.max_*_namespaces)".to_owned()
            }
            Self::InsideContainer => {
                "this is a container, and its filter forbids namespaces".to_owned()
            }
            Self::MaskedProc => {
                "parts of /proc are covered, so bwrap cannot mount its own".to_owned()
            }
            Self::NoProcSys => "/proc/sys cannot be read (ProcSubset=pid)".to_owned(),
            Self::UnknownMachine => "there is no system call filter for this processor".to_owned(),
            Self::ServiceDown { kind, said } => {
                format!("`{}` does not reach its service: {said}", kind.program())
            }
            Self::Other { kind, said } => format!("`{}` fails: {said}", kind.program()),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        let text = match self {
            Self::MissingProgram {
                kind: JailKind::Bwrap,
            } => {
                "install the package `bubblewrap` (apt, dnf, pacman and apk have it under this name)"
            }
            Self::MissingProgram {
                kind: JailKind::Podman,
            } => "install the package `podman`",
            Self::MissingProgram {
                kind: JailKind::Docker,
            } => "install docker, and make sure that you may use it (`docker info`)",
            Self::TooOld { .. } => "install bubblewrap 0.8 or newer",
            Self::AppArmor => {
                "install `apparmor-profiles`, copy \
                 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d/ and \
                 load it with `sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict`; it \
                 covers /usr/bin/bwrap only"
            }
            Self::NoUserNamespaces => {
                "run `sudo sysctl kernel.unprivileged_userns_clone=1`, and remove \
                 RestrictNamespaces from the unit if this is a service"
            }
            Self::NamespacesUsedUp => {
                "run `sudo sysctl user.max_user_namespaces=15000`; inside another sandbox that \
                 disables user namespaces, run outside of it"
            }
            Self::InsideContainer => {
                "start the container with `--security-opt seccomp=unconfined --security-opt \
                 systempaths=unconfined` (docker) or `--security-opt unmask=ALL` (podman), or run \
                 outside of it"
            }
            Self::MaskedProc => {
                "docker: add `--security-opt systempaths=unconfined`; podman: `--security-opt \
                 unmask=ALL`; systemd: remove ProtectKernelTunables from the unit"
            }
            Self::NoProcSys => "remove ProcSubset=pid from the unit",
            Self::UnknownMachine => "use `podman` or `docker`",
            Self::ServiceDown {
                kind: JailKind::Docker,
                ..
            } => "start the docker service, and check DOCKER_HOST and your membership of its group",
            Self::ServiceDown { .. } | Self::Other { .. } => {
                "make its own command work first; the message above is its own"
            }
        };
        text.to_owned()
    }
}

/// Tries a kind of jail.
pub fn probe(kind: JailKind) -> Result<Probed, Unusable> {
    let program = find_program(kind).ok_or(Unusable::MissingProgram { kind })?;
    match kind {
        JailKind::Bwrap => probe_bwrap(program),
        JailKind::Podman | JailKind::Docker => probe_container(kind, program),
    }
}

fn probe_bwrap(program: PathBuf) -> Result<Probed, Unusable> {
    let kind = JailKind::Bwrap;
    let machine = Machine::ours().ok_or(Unusable::UnknownMachine)?;
    let Abilities { disable_userns, .. } = abilities(kind, &program, None);
    let options = bwrap::trial(&trial_mounts(), disable_userns);
    let version = version(&program).map(|(version, _)| version);
    let version = version.unwrap_or_else(|| "of unknown version".to_owned());
    let said = try_bwrap(&program, &options, machine);
    let said = said.unwrap_or_else(|error| Some(error.to_string()));
    match said {
        None => Ok(Probed {
            kind,
            program,
            version,
        }),
        Some(said) => Err(explain(&said, &version, &Surroundings::look())),
    }
}

/// The system alone, without the prepared `/etc`: `true` needs no more.
fn trial_mounts() -> Vec<Mount> {
    let folders = ["/usr", "/bin", "/lib", "/lib64"].map(Path::new);
    let mount = |inside: &Path| {
        Some(Mount {
            host: fs::canonicalize(inside).ok()?,
            inside: inside.to_owned(),
            access: Access::ReadOnly,
        })
    };
    folders.into_iter().filter_map(mount).collect()
}

/// Runs `true` in the profile. Returns what was said if it failed.
fn try_bwrap(
    program: &Path,
    options: &[String],
    machine: Machine,
) -> std::io::Result<Option<String>> {
    let mut given = fs::File::from(memfd_create("filter", MemfdFlags::empty())?);
    given.write_all(&filter(machine))?;
    given.rewind()?;
    let number = given.as_raw_fd().to_string();
    let options = options.iter().map(|option| match option.as_str() {
        FILTER_FD => number.as_str(),
        other => other,
    });
    let mut command = Command::new(program);
    command.args(options).args(["--", "true"]);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((!output.status.success()).then(|| {
        let said: String = said.chars().take(SAID_CHARS_MAX).collect();
        if said.is_empty() {
            format!("it ended with {}", output.status)
        } else {
            said
        }
    }))
}

/// What around us may explain a failure.
struct Surroundings {
    apparmor_restricts: bool,
    is_container: bool,
}

impl Surroundings {
    fn look() -> Self {
        let restricts = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
        let is_container = ["/.dockerenv", "/run/.containerenv"];
        Self {
            apparmor_restricts: fs::read_to_string(restricts).is_ok_and(|text| text.trim() == "1"),
            is_container: is_container.iter().any(|file| Path::new(file).exists()),
        }
    }
}

/// Finds the cause behind bwrap's words.
fn explain(said: &str, version: &str, around: &Surroundings) -> Unusable {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["Unknown option"]) {
        return Unusable::TooOld {
            version: version.to_owned(),
        };
    }
    if says(&[
        "setting up uid map: Permission denied",
        "Failed RTM_NEWADDR",
    ]) || (around.apparmor_restricts && says(&["Permission denied", "Operation not permitted"]))
    {
        return Unusable::AppArmor;
    }
    if says(&["namespaces exceeded", "No space left on device"]) {
        return Unusable::NamespacesUsedUp;
    }
    if says(&["Can't read /proc/sys"]) {
        return Unusable::NoProcSys;
    }
    if says(&["Can't mount proc"]) {
        return Unusable::MaskedProc;
    }
    if says(&["No permissions to creat", "Creating new namespace failed"]) {
        return if around.is_container {
            Unusable::InsideContainer
        } else {
            Unusable::NoUserNamespaces
        };
    }
    Unusable::Other {
        kind: JailKind::Bwrap,
        said: said.to_owned(),
    }
}

fn probe_container(kind: JailKind, program: PathBuf) -> Result<Probed, Unusable> {
    let mut command = Command::new(&program);
    command.args(["version", "--format", "{{.Server.Version}}"]);
    let down = |said: String| Unusable::ServiceDown { kind, said };
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| down(error.to_string()))?;
    let said = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim().chars().take(SAID_CHARS_MAX).collect::<String>()
    };
    let version = said(&output.stdout);
    if !output.status.success() || version.is_empty() {
        return Err(down(said(&output.stderr)));
    }
    Ok(Probed {
        kind,
        program,
        version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Surroundings = Surroundings {
        apparmor_restricts: false,
        is_container: false,
    };

    #[test]
    fn a_failure_is_explained() {
        let ubuntu = Surroundings {
            apparmor_restricts: true,
            ..CALM
        };
        let container = Surroundings {
            is_container: true,
            ..CALM
        };
        for (said, around, expected) in [
            (
                "bwrap: setting up uid map: Permission denied",
                &CALM,
                Unusable::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                &CALM,
                Unusable::AppArmor,
            ),
            (
                "bwrap: No permissions to create a new namespace, likely because the kernel does not \
                 allow non-privileged user namespaces.",
                &CALM,
                Unusable::NoUserNamespaces,
            ),
            (
                "bwrap: No permissions to creating new namespace, likely because the kernel …",
                &container,
                Unusable::InsideContainer,
            ),
            (
                "bwrap: Creating new namespace failed: Operation not permitted",
                &ubuntu,
                Unusable::AppArmor,
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                &CALM,
                Unusable::NamespacesUsedUp,
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                &CALM,
                Unusable::MaskedProc,
            ),
            (
                "bwrap: Can't read /proc/sys/kernel/overflowuid: No such file or directory",
                &CALM,
                Unusable::NoProcSys,
            ),
            (
                "bwrap: Unknown option --size",
                &CALM,
                Unusable::TooOld {
                    version: "0.4.1".to_owned(),
                },
            ),
            (
                "bwrap: the moon is full",
                &CALM,
                Unusable::Other {
                    kind: JailKind::Bwrap,
                    said: "bwrap: the moon is full".to_owned(),
                },
            ),
        ] {
            let found = explain(said, "0.4.1", around);
            assert_eq!(found, expected, "{said}");
            assert!(!found.why().is_empty() && !found.remedy().is_empty());
        }
    }
}
