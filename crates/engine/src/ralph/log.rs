//! What a `ralph` leaves behind for people and monitors: a line per event, and a heartbeat.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use home::{iso, now_ms};
use serde::Serialize;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Started,
    Completed,
    Failed,
    RateLimited,
    Blocked,
    Interrupted,
    Finished,
    Error,
}

/// One line of the log.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry<'a> {
    pub(super) iteration: u64,
    pub(super) task_id: Option<&'a str>,
    pub(super) action: Action,
    pub(super) duration_seconds: Option<f64>,
    pub(super) exit_code: Option<i32>,
    pub(super) outcome: Option<&'a str>,
    pub(super) agent: &'a str,
    pub(super) tokens: Option<u64>,
}

#[derive(Serialize)]
struct Line<'a> {
    timestamp: String,
    #[serde(flatten)]
    entry: &'a Entry<'a>,
}

/// The log and the heartbeat of one `ralph`.
#[derive(Debug)]
pub(super) struct Log {
    file: PathBuf,
    writing: Mutex<()>,
}

impl Log {
    /// Makes the folder, which git is told to ignore unless somebody tracks it already.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let is_new = !folder.exists();
        fs::create_dir_all(folder)?;
        if is_new {
            fs::write(folder.join(".gitignore"), "*\n")?;
        }
        Ok(Self {
            file: folder.join("ralph.jsonl"),
            writing: Mutex::new(()),
        })
    }

    /// Adds a line. It is one write, so that lines of several never mix.
    pub(super) fn add(&self, entry: &Entry<'_>) {
        let line = Line {
            timestamp: iso(now_ms()),
            entry,
        };
        let Ok(mut text) = serde_json::to_string(&line) else {
            return;
        };
        text.push('\n');
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file);
        // A log that cannot be written must not end the work.
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// Beats until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Beats now and after each `interval`, also while a task runs.
    pub(super) fn start(folder: &Path, interval: Duration) -> Self {
        let file = folder.join("ralph.heartbeat");
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let told = Arc::clone(&stop);
        beat(&file);
        let thread = thread::spawn(move || {
            let (stopped, changed) = &*told;
            let mut stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
            while !*stopped {
                let waited = changed.wait_timeout(stopped, interval);
                stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
                beat(&file);
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let (stopped, changed) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whoever reads the file sees a whole time, never half of one.
fn beat(file: &Path) {
    let scratch = file.with_extension("heartbeat.new");
    let written = fs::write(&scratch, format!("{}\n", iso(now_ms())));
    // A heartbeat that cannot be written is stale, and that is what a monitor must see.
    let _ = written.and_then(|()| fs::rename(&scratch, file));
}
