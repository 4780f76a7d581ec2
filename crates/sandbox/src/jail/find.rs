//! Finds the program of a jail and what its version can do.

use std::collections::BTreeMap;
use std::env;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::command::Abilities;
use super::spec::JailKind;

/// The first version of bwrap with `--disable-userns`.
const DISABLE_USERNS_SINCE: (u32, u32) = (0, 8);

/// Looks a jail's program up in our own `PATH`.
pub(crate) fn find_program(kind: JailKind) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let candidates = env::split_paths(&path).filter(|folder| folder.is_absolute());
    candidates
        .map(|folder| folder.join(kind.program()))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let is_one = |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    file.metadata().is_ok_and(is_one)
}

/// What a jail's program can do here; its version is asked for unless it is known.
pub(crate) fn abilities(kind: JailKind, program: &Path, known: Option<(u32, u32)>) -> Abilities {
    let is_root = rustix::process::geteuid().is_root();
    let version = || known.or_else(|| version(program).map(|(_, numbers)| numbers));
    match kind {
        JailKind::Bwrap => Abilities {
            disable_userns: version().is_some_and(|version| version >= DISABLE_USERNS_SINCE),
            ..Abilities::default()
        },
        JailKind::Podman => Abilities {
            is_rootless: !is_root,
            ..Abilities::default()
        },
        JailKind::Docker => {
            let us = (
                rustix::process::geteuid().as_raw(),
                rustix::process::getegid().as_raw(),
            );
            Abilities {
                container_user: (!is_root).then_some(us),
                has_ipv6: Path::new("/proc/sys/net/ipv6").exists(),
                ..Abilities::default()
            }
        }
    }
}

/// The version of the program that makes jails of a kind, where one depends on it. It is asked once by
/// each process for each file that the program is.
pub fn jail_version(kind: JailKind) -> Option<Version> {
    static ASKED: Mutex<BTreeMap<PathBuf, (Identity, Version)>> = Mutex::new(BTreeMap::new());
    if kind != JailKind::Bwrap {
        return None;
    }
    let program = find_program(kind)?;
    let identity = identity(&program)?;
    let asked = || ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = asked().get(&program).copied();
    if let Some((of, version)) = known
        && of == identity
    {
        return Some(version);
    }
    // Nobody else waits while it answers.
    let (_, version) = version(&program)?;
    asked().insert(program, (identity, version));
    Some(version)
}

/// The first two numbers of a version.
type Version = (u32, u32);

/// Which file a path stands for, and when it was changed last.
type Identity = (u64, u64, i64, i64);

fn identity(path: &Path) -> Option<Identity> {
    let found = path.metadata().ok()?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// The version that a program reports, as text and as its first two numbers.
pub(super) fn version(program: &Path) -> Option<(String, (u32, u32))> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    let output = command.stderr(Stdio::null()).output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// Reads such as `bubblewrap 0.8.0` or `Docker version 20.10.24+dfsg1, build 297e128`.
fn parse_version(text: &str) -> Option<(String, (u32, u32))> {
    let starts_with_digit = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(starts_with_digit)?;
    let word = word.trim_end_matches(',');
    let mut numbers = word.split(|c: char| !c.is_ascii_digit());
    let first = numbers.next()?.parse().ok()?;
    let second = numbers.next().and_then(|number| number.parse().ok());
    Some((word.to_owned(), (first, second.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_known_is_not_asked_for() {
        let nowhere = Path::new("/no/such/program");
        for (known, expected) in [
            (Some((0, 7)), false),
            (Some((0, 8)), true),
            (Some((1, 0)), true),
            (None, false),
        ] {
            let abilities = abilities(JailKind::Bwrap, nowhere, known);
            assert_eq!(abilities.disable_userns, expected, "{known:?}");
        }
    }

    #[test]
    fn versions_are_read() {
        for (text, expected) in [
            ("bubblewrap 0.8.0\n", Some(("0.8.0", (0, 8)))),
            ("bubblewrap 0.12.0", Some(("0.12.0", (0, 12)))),
            ("podman version 4.3.1", Some(("4.3.1", (4, 3)))),
            (
                "Docker version 20.10.24+dfsg1, build 297e128",
                Some(("20.10.24+dfsg1", (20, 10))),
            ),
            ("bubblewrap", None),
        ] {
            let found = parse_version(text);
            let found = found
                .as_ref()
                .map(|(text, numbers)| (text.as_str(), *numbers));
            assert_eq!(found, expected, "{text}");
        }
    }
}
