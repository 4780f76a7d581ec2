//! The containers of runs: their names, and how one is removed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use crate::JailKind;
use crate::files::RunFolder;
use crate::jail::find_program;

/// A name that only this run folder has, for containers and control groups.
pub(super) fn name(folder: &RunFolder) -> String {
    let mut hasher = DefaultHasher::new();
    folder.path().as_os_str().as_bytes().hash(&mut hasher);
    format!("loopwright-{:016x}", hasher.finish())
}

/// Removes the container of a run, with everything in it. If there is none, that is not an error.
pub(super) fn remove(kind: JailKind, folder: &RunFolder) -> io::Result<()> {
    let program = find_program(kind).ok_or(io::ErrorKind::NotFound)?;
    let name = name(folder);
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args).stdin(Stdio::null());
        command.output()
    };
    let removed = run(&["rm", "--force", "--volumes", &name])?;
    if removed.status.success() {
        return Ok(());
    }
    // Docker reports one that is not there, or is being removed by itself, as a failure.
    let left = run(&[
        "ps",
        "--all",
        "--quiet",
        "--filter",
        &format!("name=^{name}$"),
    ])?;
    if left.status.success() && left.stdout.trim_ascii().is_empty() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&removed.stderr);
    Err(io::Error::other(said.trim().to_owned()))
}
