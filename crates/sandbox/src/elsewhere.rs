//! The keeper on systems without `/proc` and without a child subreaper: it says that it cannot work
//! there.
//!
//! It deliberately does not try half of it, because a tree that cannot be ended must not be
//! started.

use std::path::Path;

use crate::{ExitOutcome, KeeperError, RunView};

/// Refuses: a keeper could not end its tree here.
pub fn launch(_loopwright: &Path, _run_dir: &Path) -> Result<(), KeeperError> {
    Err(KeeperError::Unsupported)
}

/// Refuses: a keeper could not end its tree here.
pub fn keep(_run_dir: &Path) -> ExitOutcome {
    ExitOutcome::Failed(KeeperError::Unsupported)
}

/// Says what the folder alone can tell; whether a keeper lives cannot be told here.
pub fn look(run_dir: &Path) -> Result<RunView, KeeperError> {
    let folder = crate::files::RunFolder::open(run_dir)?;
    match (folder.exit()?, folder.keeper()?) {
        (Some(exit), _) => Ok(RunView::Ended(exit)),
        (None, None) => Ok(RunView::NotStarted),
        (None, Some(_)) => Err(KeeperError::Unsupported),
    }
}

/// Refuses: what is left cannot be found here.
pub fn sweep(_run_dir: &Path) -> Result<u32, KeeperError> {
    Err(KeeperError::Unsupported)
}
