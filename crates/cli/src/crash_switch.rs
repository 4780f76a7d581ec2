//! The crash switch of a program built for development: it kills itself at the moment that a test
//! has named.
//!
//! Moments are around every record, ref, operator's file and file of a keeper. All processes of one
//! test count in one folder, which `LOOPWRIGHT_CRASH_SWITCH` names: `moments` has a line for each
//! moment so far, `at` names one by its words and the how-manieth of these it is, `clock_ms` stops
//! the time that records are stamped with. A released program does not look at any of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use engine::{Moment, Worker};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Signal, getpid, kill_process};

const VARIABLE: &str = "LOOPWRIGHT_CRASH_SWITCH";

fn folder() -> Option<PathBuf> {
    let of_environment = || std::env::var_os(VARIABLE).filter(|value: &OsString| !value.is_empty());
    if cfg!(debug_assertions) {
        of_environment().map(PathBuf::from)
    } else {
        None
    }
}

/// Watches the moments of this process, if a test asks for that.
pub(crate) fn arm() {
    if folder().is_some() {
        sandbox::watch_writes(pass);
        workspace::watch_changes(pass);
    }
}

/// Watches the moments of a worker too, and stops its clock.
pub(crate) fn arm_worker(worker: &mut Worker) {
    let Some(folder) = folder() else { return };
    worker.set_crash_switch(Box::new(|moment| {
        pass(match moment {
            Moment::BeforeRecord => "before a record",
            Moment::AfterRecord => "after a record",
            Moment::AfterDeed => "after a deed",
        });
        false
    }));
    let clock_ms = fs::read_to_string(folder.join("clock_ms"))
        .ok()
        .and_then(|text| text.parse().ok());
    if let Some(clock_ms) = clock_ms {
        worker.set_clock(Box::new(move || clock_ms));
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

/// Notes a moment, and says whether it is the one to die at.
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
