//! The containers of runs: their names, how one is removed, and those that a crash left behind.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::look::look;
use crate::files::RunFolder;
use crate::jail::find_program;
use crate::{CONTAINER_LABEL, JailKind, RunView};

/// A name that only this run folder has, for containers and control groups.
pub(super) fn name(folder: &RunFolder) -> String {
    let mut hasher = DefaultHasher::new();
    folder.path().as_os_str().as_bytes().hash(&mut hasher);
    format!("loopwright-{:016x}", hasher.finish())
}

/// A container that belongs to no living keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// What made it.
    pub kind: JailKind,
    /// The container's id.
    pub id: String,
    /// The folder of the run that it was made for, which may be gone.
    pub run_dir: PathBuf,
}

/// Finds the containers of runs below `state_folder` whose keeper is not alive.
///
/// A container ends with its keeper and is removed then, so there are strays only after a crash of
/// the machine or of the engine itself.
pub fn strays(kind: JailKind, state_folder: &Path) -> io::Result<Vec<Stray>> {
    let label = format!("label={CONTAINER_LABEL}");
    let ids = ask(
        kind,
        &["ps", "--all", "--quiet", "--no-trunc", "--filter", &label],
    )?;
    let format = format!("{{{{index .Config.Labels \"{CONTAINER_LABEL}\"}}}}");
    let mut found = Vec::new();
    for id in String::from_utf8_lossy(&ids).split_whitespace() {
        // One that is just being removed is not there any more.
        let Ok(run_dir) = ask(kind, &["inspect", "--format", &format, id]) else {
            continue;
        };
        let run_dir = PathBuf::from(String::from_utf8_lossy(&run_dir).trim());
        let is_kept = matches!(look(&run_dir), Ok(RunView::Running(_)));
        if run_dir.starts_with(state_folder) && !is_kept {
            found.push(Stray {
                kind,
                id: id.to_owned(),
                run_dir,
            });
        }
    }
    Ok(found)
}

/// Removes a stray with everything in it.
pub fn remove_stray(stray: &Stray) -> io::Result<()> {
    ask(stray.kind, &["rm", "--force", "--volumes", &stray.id]).map(drop)
}

/// Removes the container of a run, with everything in it. If there is none, that is not an error.
pub(super) fn remove(kind: JailKind, folder: &RunFolder) -> io::Result<()> {
    let name = name(folder);
    let Err(failed) = ask(kind, &["rm", "--force", "--volumes", &name]) else {
        return Ok(());
    };
    // Docker reports one that is not there, or is being removed by itself, as a failure.
    let filter = format!("name=^{name}$");
    let left = ask(kind, &["ps", "--all", "--quiet", "--filter", &filter])?;
    if left.trim_ascii().is_empty() {
        return Ok(());
    }
    Err(failed)
}

/// Runs the engine's program and returns what it printed.
fn ask(kind: JailKind, args: &[&str]) -> io::Result<Vec<u8>> {
    let program = find_program(kind).ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    let Output {
        status,
        stdout,
        stderr,
    } = command.args(args).stdin(Stdio::null()).output()?;
    if status.success() {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&stderr).trim().to_owned();
    Err(io::Error::other(said))
}
