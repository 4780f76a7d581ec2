//! The keeper's main function, and the two records it writes.
//!
//! Signal handlers stay at their defaults: the keeper has its own session, so no terminal can
//! signal it, and a signal that does arrive is meant for it. The keeper does not decide about
//! retries.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{getpid, set_child_subreaper, setsid};

use super::lock::{self, Lock};
use super::program::{self, now_ms};
use super::{launch, processes};
use crate::files::{RunFolder, is_full};
use crate::{ExitOutcome, ExitRecord, KeeperError, KeeperRecord, RunSpec, Watch};

/// How often writing the exit record is tried, once a second, if it fails. A full disk does not
/// count: we wait for it without a limit.
const EXIT_TRIES_MAX: u32 = 60;

/// Runs the program of a folder and returns when its process tree is gone and the end is recorded.
/// This is what `loopwright keeper RUN_DIR` does. `watch` gives who watches the program's output.
pub fn keep(run_dir: &Path, watch: impl FnOnce(&RunSpec) -> Option<Watch>) -> ExitOutcome {
    try_keep(run_dir, watch).unwrap_or_else(ExitOutcome::Failed)
}

fn try_keep(
    run_dir: &Path,
    watch: impl FnOnce(&RunSpec) -> Option<Watch>,
) -> Result<ExitOutcome, KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    if launch::is_intermediate() {
        return launch::relaunch(&folder).map(|()| ExitOutcome::Relaunched);
    }
    let spec = folder.required_spec()?;
    let folder = folder.of_run(&spec);
    let Lock::Ours { _held } = lock::take(&folder)? else {
        return Ok(ExitOutcome::AlreadyKept);
    };
    // An earlier keeper may have started the program even if it left no exit record. The program
    // must not be started twice.
    if folder.keeper()?.is_some() || folder.exit()?.is_some() {
        return Ok(ExitOutcome::AlreadyKept);
    }
    own_descendants()?;
    // The output files come before the record. If the disk is too full for them, the run counts as
    // never taken, and another keeper may take it later.
    let streams = program::keep_streams(&folder, &spec)
        .map_err(KeeperError::file("make the output files in", folder.path()))?;
    // The record comes before the program: if we die in between, the run is lost and not started
    // twice.
    folder.write_keeper(&our_record()?)?;
    let record = program::run(&folder, &spec, streams, watch(&spec));
    write_exit(&folder, &record)?;
    Ok(ExitOutcome::Ended(record))
}

/// Starts a session for us and our descendants only, and makes every orphan among them our child.
fn own_descendants() -> Result<(), KeeperError> {
    setsid().map_err(KeeperError::process("lead a session of its own"))?;
    set_child_subreaper(Some(getpid())).map_err(KeeperError::process("become a child subreaper"))
}

fn our_record() -> Result<KeeperRecord, KeeperError> {
    let pid = getpid().as_raw_nonzero().get();
    let not_found = || KeeperError::process("find our own process")(std::io::ErrorKind::NotFound);
    let process = processes::read(pid).ok_or_else(not_found)?;
    let boot_id = processes::boot_id().map_err(KeeperError::process("read the boot id"))?;
    Ok(KeeperRecord {
        pid,
        start_time: process.id.start_time,
        boot_id,
        started_at_ms: now_ms(),
    })
}

/// Writes the exit record, and keeps trying: a full disk may have room again later, and without the
/// record the work of the whole run is lost. It gives up if the run folder is gone.
fn write_exit(folder: &RunFolder, record: &ExitRecord) -> Result<(), KeeperError> {
    let mut n_tries = 1;
    loop {
        match folder.write_exit(record) {
            Err(KeeperError::File { source, .. }) if is_full(&source) && folder.path().exists() => {
            }
            Err(_) if n_tries < EXIT_TRIES_MAX && folder.path().exists() => n_tries += 1,
            result => return result,
        }
        thread::sleep(Duration::from_secs(1));
    }
}
