//! The keeper's whole life, and the two records it leaves.
//!
//! Signals stay at their defaults: the keeper has a session of its own, so no terminal reaches it,
//! and what does reach it is meant. It does not decide whether anything is tried again.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{getpid, set_child_subreaper, setsid};

use super::lock::{self, Lock};
use super::program::{self, now_ms};
use super::{launch, processes};
use crate::files::{RunFolder, is_full};
use crate::{ExitOutcome, ExitRecord, KeeperError, KeeperRecord};

/// How often the exit record is tried when it is refused, once a second. A full disk is waited for
/// without a limit.
const EXIT_TRIES_MAX: u32 = 60;

/// Keeps the run of a folder until its tree is gone and recorded; what `loopwright keeper RUN_DIR`
/// does.
pub fn keep(run_dir: &Path) -> ExitOutcome {
    live(run_dir).unwrap_or_else(ExitOutcome::Failed)
}

fn live(run_dir: &Path) -> Result<ExitOutcome, KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    if launch::is_in_between() {
        return launch::relaunch(&folder).map(|()| ExitOutcome::Relaunched);
    }
    let spec = folder.required_spec()?;
    let Lock::Ours { _held } = lock::take(&folder)? else {
        return Ok(ExitOutcome::AlreadyKept);
    };
    // A keeper that was here may have started the program, even if it left no exit record: once is
    // the limit.
    if folder.keeper()?.is_some() || folder.exit()?.is_some() {
        return Ok(ExitOutcome::AlreadyKept);
    }
    own_what_comes()?;
    // Before the record: a disk that is too full for them leaves a run that was never taken, and
    // may be taken later.
    let refused = KeeperError::file("make the output files in", folder.path());
    let streams = program::keep_streams(&folder, &spec).map_err(refused)?;
    folder.write_keeper(&ourselves()?)?;
    let record = program::run(&folder, &spec, streams);
    write_exit(&folder, &record)?;
    Ok(ExitOutcome::Ended(record))
}

/// Makes a session that holds nobody but the coming tree, and every orphan of it our child.
fn own_what_comes() -> Result<(), KeeperError> {
    setsid().map_err(KeeperError::process("lead a session of its own"))?;
    set_child_subreaper(Some(getpid())).map_err(KeeperError::process("become a child subreaper"))
}

fn ourselves() -> Result<KeeperRecord, KeeperError> {
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

/// A full disk may have room again in a while, and without the record the whole run would have been
/// for nothing.
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
