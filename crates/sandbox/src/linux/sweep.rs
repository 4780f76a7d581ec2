//! Kills the processes that a lost keeper left behind.
//!
//! A process belongs to the run if its environment has the keeper's mark, or if it descends from
//! one that has. A process that has cleared its environment (or hidden it, as some key agents do)
//! *and* lost its parent is not found. Only the keeper itself, which inherits every orphan, can end
//! such a process.
//!
//! A jail is found by its recorded first process, whose end the kernel makes the end of all others
//! inside. Before it is recorded, the jail's program carries the mark on its command line.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::cgroup;
use super::container;
use super::jailed::remove_sockets;
use super::lock::{self, Lock};
use super::look::look;
use super::processes::{self, Identity, Process};
use crate::files::RunFolder;
use crate::{JailKind, KeeperError, RUN_DIR_VARIABLE, RunView};

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
    end_container(&folder)?;
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
    if let Ok(Some(jail)) = folder.jail() {
        cgroup::remove(&jail.cgroups);
    }
    remove_sockets(&folder);
    Ok(u32::try_from(swept.len()).unwrap_or(u32::MAX))
}

/// Removes the container of a run that has one. Its processes are not below us, and may not be ours
/// to signal.
fn end_container(folder: &RunFolder) -> Result<(), KeeperError> {
    let kind = folder.spec().ok().flatten().and_then(|spec| spec.jail);
    match kind.map(|jail| jail.kind) {
        Some(kind @ (JailKind::Podman | JailKind::Docker)) => container::remove(kind, folder)
            .map_err(KeeperError::process("remove the container of a lost run")),
        Some(JailKind::Bwrap) | None => Ok(()),
    }
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
    // A spec that cannot be read has marked nothing. That of a jail has marks in inside terms, which
    // other processes may have too.
    let others = folder.required_spec().ok();
    let others = others.filter(|spec| spec.jail.is_none());
    let marks: Vec<Vec<u8>> = others
        .map(|spec| spec.marks)
        .unwrap_or_default()
        .into_iter()
        .map(String::into_bytes)
        .chain([own])
        .collect();
    let shim = folder.jail().ok().flatten().map(|jail| Identity {
        pid: jail.pid,
        start_time: jail.start_time,
    });
    let table = processes::all()?;
    let mut left: Vec<Process> = table
        .iter()
        .filter(|process| {
            shim == Some(process.id) || marks.iter().any(|mark| has_mark(process, mark))
        })
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
    let read =
        |file: &str| fs::read(format!("/proc/{}/{file}", process.id.pid)).unwrap_or_default();
    let (environment, command_line) = (read("environ"), read("cmdline"));
    let variables = environment.split(|byte| *byte == 0);
    // The program of a jail has the mark as its first word.
    let words = command_line.split(|byte| *byte == 0).take(1);
    variables.chain(words).any(|text| is_marked(text, mark))
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
