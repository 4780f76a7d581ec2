//! Determines the state of a run from its folder and the process table alone.
//!
//! It changes nothing. The caller decides what follows from the state: adopt, sweep or try again.

use std::path::Path;

use super::processes::{self, Identity};
use crate::files::RunFolder;
use crate::{KeeperError, KeeperRecord, RunView};

/// Determines the state of a run. This is safe at any time, also while its keeper is running.
pub fn look(run_dir: &Path) -> Result<RunView, KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    if let Some(exit) = folder.exit()? {
        return Ok(RunView::Ended(exit));
    }
    let Some(keeper) = folder.keeper()? else {
        return Ok(RunView::NotStarted);
    };
    if processes::boot_id().map_err(KeeperError::process("read the boot id"))? != keeper.boot_id {
        return Ok(RunView::Rebooted(keeper));
    }
    if processes::is_running(Identity {
        pid: keeper.pid,
        start_time: keeper.start_time,
    }) {
        return Ok(RunView::Running(keeper));
    }
    ended_or_lost(&folder, keeper)
}

/// Reads the exit record again: the keeper may have written it and ended after our first read. Only
/// if it is still missing is the run lost.
fn ended_or_lost(folder: &RunFolder, keeper: KeeperRecord) -> Result<RunView, KeeperError> {
    Ok(folder.exit()?.map_or(RunView::Lost(keeper), RunView::Ended))
}
