//! Our own program, as the processes of ours are started with it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What Linux adds to the path of a program whose file was removed or replaced.
const REMOVED: &str = " (deleted)";

/// Our own program's file as Linux keeps it open: it can be started even if its name is gone.
const OURSELVES: &str = "/proc/self/exe";

/// The program to start further processes of ours with. After an upgrade in place that is the new
/// program at our path. Where nothing usable is there, it is the file that we run ourselves.
pub fn our_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if !cfg!(target_os = "linux") || path.exists() {
        return Ok(path);
    }
    let new = replaced(&path).filter(|new| is_loopwright(new));
    Ok(new.unwrap_or_else(|| PathBuf::from(OURSELVES)))
}

/// The path that a removed program had.
fn replaced(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.strip_suffix(REMOVED)?;
    Some(path.with_file_name(name))
}

/// Whether a file is a loopwright that can be started, which is asked of it.
fn is_loopwright(path: &Path) -> bool {
    let can_run = path
        .metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let said = || {
        Command::new(path)
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
    };
    can_run
        && said().is_ok_and(|said| said.status.success() && said.stdout.starts_with(b"loopwright "))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_stands_at_the_path_of_a_removed_program_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("loopwright");
        let removed = folder.path().join("loopwright (deleted)");
        assert_eq!(replaced(&removed), Some(program.clone()));
        assert_eq!(replaced(&program), None);
        assert!(!is_loopwright(&program), "nothing");
        for (script, mode, expected) in [
            ("#!/bin/sh\necho loopwright 2.0\n", 0o755, true),
            ("#!/bin/sh\necho loopwright 2.0\n", 0o644, false),
            ("#!/bin/sh\necho another 2.0\n", 0o755, false),
            ("#!/bin/sh\necho loopwright 2.0; exit 1\n", 0o755, false),
        ] {
            fs::write(&program, script).expect("written");
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("mode");
            assert_eq!(is_loopwright(&program), expected, "{script} {mode:o}");
        }
    }
}
