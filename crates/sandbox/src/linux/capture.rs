//! Copies one output stream of the program into a file, up to a bound.
//!
//! It reads on when the bound is reached or the file cannot be written, so that the program is never blocked by us. It
//! does not look at what it copies.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const CHUNK_BYTES: usize = 64 * 1024;

const PAUSE: Duration = Duration::from_millis(5);

/// One stream that is being copied.
#[derive(Debug)]
pub(super) struct Capture {
    counts: Arc<Counts>,
    copying: JoinHandle<()>,
}

/// What became of the bytes of one stream.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) kept_bytes: u64,
    pub(super) dropped_bytes: u64,
}

#[derive(Debug, Default)]
struct Counts {
    kept: AtomicU64,
    dropped: AtomicU64,
}

impl Capture {
    pub(super) fn start(stream: PipeReader, file: File, bytes_max: u64) -> io::Result<Self> {
        let counts = Arc::new(Counts::default());
        let copying = thread::Builder::new().spawn({
            let counts = Arc::clone(&counts);
            move || copy(stream, file, bytes_max, &counts)
        })?;
        Ok(Self { counts, copying })
    }

    /// All bytes seen so far, kept or not: what moves while the program talks.
    pub(super) fn seen_bytes(&self) -> u64 {
        self.so_far().kept_bytes + self.so_far().dropped_bytes
    }

    /// Waits for the stream's end, but not for ever: a process outside the tree may have been handed the pipe.
    pub(super) fn finish(self, wait_max: Duration) -> Captured {
        let started = Instant::now();
        while !self.copying.is_finished() && started.elapsed() < wait_max {
            thread::sleep(PAUSE);
        }
        self.so_far()
    }

    fn so_far(&self) -> Captured {
        Captured {
            kept_bytes: self.counts.kept.load(Ordering::Acquire),
            dropped_bytes: self.counts.dropped.load(Ordering::Acquire),
        }
    }
}

fn copy(mut stream: PipeReader, mut file: File, bytes_max: u64, counts: &Counts) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut room = bytes_max;
    loop {
        let n_read = match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let n_kept = keep_some(&mut file, &chunk[..n_read], room);
        room -= n_kept;
        counts.kept.fetch_add(n_kept, Ordering::Release);
        counts.dropped.fetch_add(n_read as u64 - n_kept, Ordering::Release);
    }
    // The exit record will count these bytes. Where they cannot be flushed it is still right about what was written.
    let _ = file.sync_all();
}

/// Writes as much as there is room for, and returns how much that was.
fn keep_some(file: &mut File, bytes: &[u8], room: u64) -> u64 {
    let n_wanted = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
    let mut n_kept = 0;
    while n_kept < n_wanted {
        match file.write(&bytes[n_kept..n_wanted]) {
            Ok(0) => break,
            Ok(n_written) => n_kept += n_written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    n_kept as u64
}
