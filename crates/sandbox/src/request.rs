//! What a worker writes into a run folder: the spec before the run, the wish to stop during it.
//!
//! Nothing here starts or ends a process; that is the keeper's.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use crate::files::{RunFolder, sync_folder};
use crate::{KeeperError, RunSpec};

/// Makes the run folder, for its owner alone, and `spec.json` in it.
///
/// Doing it again with an equal spec changes nothing; another spec is refused.
pub fn prepare(run_dir: &Path, spec: &RunSpec) -> Result<(), KeeperError> {
    make_private_folder(run_dir)?;
    let folder = RunFolder::open(run_dir)?;
    match folder.spec()? {
        Some(present) if present == *spec => Ok(()),
        Some(_) => Err(KeeperError::OtherSpec {
            path: folder.file("spec.json"),
        }),
        None => folder.write_spec(spec),
    }
}

/// Asks the keeper to end the run; the first reason stays.
///
/// It returns at once. A run that no keeper has taken yet ends as soon as one takes it, without the
/// program having started.
pub fn request_stop(run_dir: &Path, reason: &str) -> Result<(), KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    if folder.stop_file().exists() {
        return Ok(());
    }
    folder.write("stop", reason.as_bytes())
}

fn make_private_folder(run_dir: &Path) -> Result<(), KeeperError> {
    let make = || {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(run_dir)?;
        // The folder may have been there before, with another mode.
        fs::set_permissions(run_dir, Permissions::from_mode(0o700))?;
        run_dir
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .map_or(Ok(()), sync_folder)
    };
    make().map_err(KeeperError::file("make the run folder", run_dir))
}
