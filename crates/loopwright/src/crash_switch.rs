//! The crash switch of a program built for development: it kills itself at the moment that a test has
//! named.
//!
//! Crash points are around every record, ref, operator's file and file of a keeper. All processes of
//! one test count in one folder, which `LOOPWRIGHT_CRASH_SWITCH` names: `moments` has a line for each
//! crash point so far, `at` names one by its words and its ordinal among those of the same words,
//! `clock_ms` stops the time that records are stamped with. A process that measures counts trees and
//! roots only, and only if `LOOPWRIGHT_CRASH_SWITCH_OF_CHECKS` names the folder. A released program does
//! not look at any of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Log;
use journal::{AppendError, Fence, JournalError, LoopHead, NewRecord, ReadError, Record};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Signal, getpid, kill_process};

const VARIABLE: &str = "LOOPWRIGHT_CRASH_SWITCH";
const OF_CHECKS: &str = "LOOPWRIGHT_CRASH_SWITCH_OF_CHECKS";

fn folder() -> Option<PathBuf> {
    folder_in(VARIABLE).or_else(|| folder_in(OF_CHECKS))
}

fn folder_in(variable: &str) -> Option<PathBuf> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let value: Option<OsString> = std::env::var_os(variable);
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Watches the crash points of this process, if a test asks for that.
pub(crate) fn arm() {
    if folder_in(VARIABLE).is_some() {
        sandbox::watch_writes(pass);
    }
    if folder().is_some() {
        workspace::watch_changes(pass);
    }
}

/// The time at which a test has stopped the clock.
pub(crate) fn stopped_clock() -> Option<i64> {
    let text = fs::read_to_string(folder()?.join("clock_ms")).ok()?;
    text.parse().ok()
}

/// The worker's log, with a crash point around every record if a test asks for that.
pub(crate) fn watched(log: Arc<dyn Log>) -> Arc<dyn Log> {
    match folder() {
        Some(_) => Arc::new(WatchedLog(log)),
        None => log,
    }
}

struct WatchedLog(Arc<dyn Log>);

impl Log for WatchedLog {
    fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: &Fence,
        record: NewRecord<'_>,
    ) -> Result<u64, AppendError> {
        pass("before a record");
        let appended = self.0.append(loop_id, expected, fence, record);
        pass("after a record");
        appended
    }

    fn read(&self, loop_id: &str, after: u64) -> Result<Vec<Record>, ReadError> {
        self.0.read(loop_id, after)
    }

    fn heads(&self) -> Result<Vec<LoopHead>, JournalError> {
        self.0.heads()
    }

    fn change_mark(&self) -> Result<i64, JournalError> {
        self.0.change_mark()
    }

    fn quarantine(&self, loop_id: &str, why: &str) -> Result<(), JournalError> {
        self.0.quarantine(loop_id, why)
    }

    fn take_lease(&self, now_ms: i64, ttl_ms: i64) -> Result<Option<Fence>, JournalError> {
        self.0.take_lease(now_ms, ttl_ms)
    }

    fn renew_lease(&self, fence: &Fence, now_ms: i64, ttl_ms: i64) -> Result<bool, JournalError> {
        self.0.renew_lease(fence, now_ms, ttl_ms)
    }

    fn release_lease(&self, fence: &Fence) -> Result<(), JournalError> {
        self.0.release_lease(fence)
    }
}

fn pass(words: &str) {
    let is_the_one = folder()
        .and_then(|folder| count(&folder, words).ok())
        .unwrap_or(false);
    if is_the_one {
        let _ = kill_process(getpid(), Signal::KILL);
    }
}

/// Notes a crash point, and says whether it is the one to die at.
fn count(folder: &Path, words: &str) -> std::io::Result<bool> {
    let mut file = File::options()
        .read(true)
        .append(true)
        .open(folder.join("moments"))?;
    flock(&file, FlockOperation::LockExclusive)?;
    file.write_all(format!("{words}\n").as_bytes())?;
    let mut text = String::new();
    File::open(folder.join("moments"))?.read_to_string(&mut text)?;
    let n_same = text.lines().filter(|line| *line == words).count();
    Ok(fs::read_to_string(folder.join("at"))? == format!("{words} {n_same}"))
}
