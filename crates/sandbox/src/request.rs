//! What the worker writes into a run folder: the spec before the run, a stop request during it.
//!
//! Nothing here starts or ends a process; only the keeper does.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use crate::files::{RunFolder, sync_folder};
use crate::{KeeperError, RunSpec};

/// Makes the run folder, accessible to its owner only, and writes `spec.json` in it.
///
/// Repeating the call with an equal spec changes nothing; a different spec is refused.
pub fn prepare(run_dir: &Path, spec: &RunSpec) -> Result<(), KeeperError> {
    let made = make_private_folder(run_dir, !spec.unflushed);
    made.map_err(KeeperError::file("make the run folder", run_dir))?;
    let folder = RunFolder::open(run_dir)?.of_run(spec);
    match folder.spec()? {
        Some(present) if present == *spec => Ok(()),
        Some(_) => Err(KeeperError::OtherSpec {
            path: folder.file("spec.json"),
        }),
        None => folder.write_spec(spec),
    }
}

/// Asks the keeper to end the run. If it was asked before, the first reason is kept.
///
/// The call returns at once. If no keeper has taken the run yet, the first one that does will end
/// it without starting the program.
pub fn request_stop(run_dir: &Path, reason: &str) -> Result<(), KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    // Two first requests at the same moment may both write. Then the later reason stays, which does
    // no harm: the keeper looks only whether the file exists.
    if folder.stop_file().exists() {
        return Ok(());
    }
    folder.write("stop", reason.as_bytes())
}

fn make_private_folder(run_dir: &Path, flushes: bool) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(run_dir)?;
    // The folder may have existed before, with another mode.
    fs::set_permissions(run_dir, Permissions::from_mode(0o700))?;
    match run_dir.parent() {
        // A relative path of one component has the empty path as its parent.
        Some(parent) if flushes && !parent.as_os_str().is_empty() => sync_folder(parent),
        Some(_) | None => Ok(()),
    }
}
