//! Kills the processes that a lost keeper left behind.
//!
//! A process belongs to the run if its environment has the keeper's mark, or if it descends from
//! one that has. A process that has cleared its environment (or hidden it, as some key agents do)
//! *and* lost its parent is not found. Only the keeper itself, which inherits every orphan, can end
//! such a process.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::lock::{self, Lock};
use super::look::look;
use super::processes::{self, Process};
use crate::files::RunFolder;
use crate::{KeeperError, RUN_DIR_VARIABLE, RunView};

/// How long killed processes may take to disappear. If it takes longer, the kernel cannot end them.
const SWEEP_SECS_MAX: u64 = 30;

/// How long the lock of a killed keeper may take to be released.
const LOCK_SECS_MAX: u64 = 5;

const PAUSE: Duration = Duration::from_millis(10);

/// How often in a row nothing must be found. Once is not enough: while a process executes another
/// program it has no environment for an instant.
const EMPTY_LOOKS: u32 = 2;

/// Kills every process that is left of a run whose keeper is lost, and returns how many there were.
///
/// If the keeper is alive this is an error, because it ends its tree itself. Nothing is written.
pub fn sweep(run_dir: &Path) -> Result<u32, KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    // A living keeper holds the lock for as long as it lives, so waiting would not help.
    if matches!(look(run_dir), Ok(RunView::Running(_))) {
        return Err(KeeperError::Kept {
            path: folder.path().to_owned(),
        });
    }
    let _lock = wait_for_lock(&folder)?;
    let started = Instant::now();
    let mut swept = BTreeSet::new();
    let mut n_empty = 0;
    while n_empty < EMPTY_LOOKS {
        let left = left_behind(&folder).map_err(KeeperError::process("read the process table"))?;
        n_empty = if left.is_empty() { n_empty + 1 } else { 0 };
        if started.elapsed().as_secs() >= SWEEP_SECS_MAX {
            return Err(not_swept(&folder, left.len()));
        }
        for process in &left {
            kill(process)?;
            swept.insert(process.id);
        }
        thread::sleep(PAUSE);
    }
    Ok(u32::try_from(swept.len()).unwrap_or(u32::MAX))
}

/// Waits a little for the lock.
///
/// A keeper that is killed while it starts its program leaves a forked child that has inherited the
/// lock but does not have the mark yet. `exec` gives it the mark and closes the lock file in the
/// same instant. So whoever gets the lock can see every process of the run.
fn wait_for_lock(folder: &RunFolder) -> Result<Lock, KeeperError> {
    let started = Instant::now();
    loop {
        match lock::take_if_present(folder)? {
            Lock::Theirs if started.elapsed().as_secs() < LOCK_SECS_MAX => thread::sleep(PAUSE),
            Lock::Theirs => {
                return Err(KeeperError::Kept {
                    path: folder.path().to_owned(),
                });
            }
            ours @ Lock::Ours { .. } => return Ok(ours),
        }
    }
}

fn left_behind(folder: &RunFolder) -> io::Result<Vec<Process>> {
    let own = [
        RUN_DIR_VARIABLE.as_bytes(),
        b"=",
        folder.path().as_os_str().as_bytes(),
    ]
    .concat();
    // A spec that cannot be read has marked nothing.
    let others = folder.required_spec().map(|spec| spec.marks);
    let marks: Vec<Vec<u8>> = others
        .unwrap_or_default()
        .into_iter()
        .map(String::into_bytes)
        .chain([own])
        .collect();
    let table = processes::all()?;
    let mut left: Vec<Process> = table
        .iter()
        .filter(|process| marks.iter().any(|mark| has_mark(process, mark)))
        .copied()
        .collect();
    let roots = left.iter().map(|process| process.id.pid).collect();
    // Descendants count even without the mark: a process may clear the environment of its children.
    left.extend(processes::descendants(&table, &roots));
    // Never kill ourselves, even if somebody calls us from inside the run.
    left.retain(|process| !process.is_zombie && u32::try_from(process.id.pid) != Ok(process::id()));
    Ok(left)
}

fn has_mark(process: &Process, mark: &[u8]) -> bool {
    // An environment that we cannot read belongs to another user, or to a process that is just
    // ending.
    let environment = fs::read(format!("/proc/{}/environ", process.id.pid)).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| is_marked(variable, mark))
}

/// Whether a variable is the mark of this run, or of a run in a folder inside this one: a run may
/// start runs of its own, and they end with it.
fn is_marked(variable: &[u8], mark: &[u8]) -> bool {
    variable
        .strip_prefix(mark)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn kill(process: &Process) -> Result<(), KeeperError> {
    processes::signal(process.id, Signal::KILL).map_err(|source| KeeperError::Kill {
        pid: process.id.pid,
        source,
    })
}

fn not_swept(folder: &RunFolder, n_left: usize) -> KeeperError {
    KeeperError::NotSwept {
        path: folder.path().to_owned(),
        n_left,
        waited_secs: SWEEP_SECS_MAX,
    }
}
