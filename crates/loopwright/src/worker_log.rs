//! The worker's log: what it did, one line per event, in a file that cannot grow without end.
//!
//! `LOOPWRIGHT_LOG` sets the level: `error`, `warn`, `info` (the default), `debug` or `trace`.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use home::{Home, Known, Redactor, secrets_seen};
use tracing::level_filters::LevelFilter;

/// The size at which the log is put aside; the one before it is dropped.
const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

const VARIABLE: &str = "LOOPWRIGHT_LOG";

/// Begins to write spans and events to the log. A log that cannot be written keeps nobody from work.
pub(crate) fn begin(home: &Home) {
    let level = level(std::env::var(VARIABLE).ok().as_deref());
    let log = BoundedLog::new(home.worker_log());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Mutex::new(log))
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn level(word: Option<&str>) -> LevelFilter {
    match word.map(str::trim) {
        Some("error") => LevelFilter::ERROR,
        Some("warn") => LevelFilter::WARN,
        Some("debug") => LevelFilter::DEBUG,
        Some("trace") => LevelFilter::TRACE,
        Some("off") => LevelFilter::OFF,
        _ => LevelFilter::INFO,
    }
}

struct BoundedLog {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    /// The keys that the worker has read, and what takes them out of a line.
    known: Known,
    redactor: Redactor,
}

impl BoundedLog {
    fn new(path: PathBuf) -> Self {
        let mut log = Self {
            path,
            file: None,
            bytes: 0,
            known: Known::default(),
            redactor: Redactor::new(&Known::default()),
        };
        log.open();
        log
    }

    fn open(&mut self) {
        let opened = File::options().create(true).append(true).open(&self.path);
        self.file = opened.ok();
        let metadata = self.file.as_ref().and_then(|file| file.metadata().ok());
        self.bytes = metadata.map_or(0, |metadata| metadata.len());
    }

    /// A line without secrets. Each event is one write, so none is in two.
    fn redacted<'l>(&mut self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let seen = secrets_seen();
        if seen != self.known {
            self.redactor = Redactor::new(&seen);
            self.known = seen;
        }
        self.redactor.bytes(line)
    }

    fn put_aside(&mut self) {
        let _ = fs::rename(&self.path, self.path.with_extension("log.1"));
        self.open();
    }
}

impl Write for BoundedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes > LOG_BYTES_MAX {
            self.put_aside();
        }
        // A full disk costs lines and no worker: an error here would be told on standard error,
        // which is this very file, and the second failure would be a panic.
        let line = self.redacted(bytes);
        if let Some(file) = &mut self.file
            && file.write_all(&line).is_ok()
        {
            self.bytes += line.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_read() {
        for (word, expected) in [
            (None, LevelFilter::INFO),
            (Some("debug"), LevelFilter::DEBUG),
            (Some(" warn "), LevelFilter::WARN),
            (Some("off"), LevelFilter::OFF),
            (Some("loud"), LevelFilter::INFO),
        ] {
            assert_eq!(level(word), expected, "{word:?}");
        }
    }

    #[test]
    fn the_log_is_put_aside_once_it_is_large() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.log");
        let mut log = BoundedLog::new(path.clone());
        let line = vec![b'x'; 1024 * 1024];
        for _ in 0..12 {
            log.write_all(&line).expect("written");
        }
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        let largest = LOG_BYTES_MAX + line.len() as u64;
        assert!(size(&path) <= largest, "the log itself");
        assert!(
            size(&path.with_extension("log.1")) <= largest,
            "the one before"
        );
    }
}
