//! Copies one output stream of the program to disk.
//!
//! It keeps reading whatever happens to the bytes, so that a full pipe never blocks the program. It
//! does not interpret what it copies.

use std::io::{self, PipeReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::keeping::Keeping;
use crate::files::is_full;

const CHUNK_BYTES: usize = 64 * 1024;

const PAUSE: Duration = Duration::from_millis(1);

/// How long to wait before a full disk is tried again.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// One stream that is being copied.
#[derive(Debug)]
pub(super) struct Capture {
    state: Arc<State>,
    copying: JoinHandle<()>,
}

/// What happened to the bytes of one stream.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) kept_bytes: u64,
    pub(super) dropped_bytes: u64,
    /// Whether the disk was full at some point.
    pub(super) found_full: bool,
}

#[derive(Debug, Default)]
struct State {
    seen: AtomicU64,
    kept: AtomicU64,
    has_ended: AtomicBool,
    /// Whether we wait for more, and are not busy with what came.
    is_waiting: AtomicBool,
    found_full: AtomicBool,
}

impl Capture {
    pub(super) fn start(stream: PipeReader, keeping: Keeping) -> io::Result<Self> {
        let state = Arc::new(State::default());
        let copying = thread::Builder::new().spawn({
            let state = Arc::clone(&state);
            move || copy(stream, keeping, &state)
        })?;
        Ok(Self { state, copying })
    }

    /// The number of bytes read so far, kept or not. It grows as long as the program writes output.
    pub(super) fn seen_bytes(&self) -> u64 {
        self.state.seen.load(Ordering::Acquire)
    }

    /// Waits for the stream's end, but no longer than `wait_max` without a byte: a process outside the
    /// tree may hold the pipe open. Time that writing takes does not count. Once the end was seen, it
    /// waits without a limit until everything is on disk, because an agent's answer comes last.
    pub(super) fn finish(self, wait_max: Duration) -> Captured {
        let mut since = Instant::now();
        let has_ended = || self.state.has_ended.load(Ordering::Acquire);
        while !self.copying.is_finished() && (has_ended() || since.elapsed() < wait_max) {
            if !self.state.is_waiting.load(Ordering::Acquire) {
                since = Instant::now();
            }
            thread::sleep(PAUSE);
        }
        let kept_bytes = self.state.kept.load(Ordering::Acquire);
        Captured {
            kept_bytes,
            dropped_bytes: self.seen_bytes().saturating_sub(kept_bytes),
            found_full: self.state.found_full.load(Ordering::Acquire),
        }
    }
}

fn copy(mut stream: PipeReader, mut keeping: Keeping, state: &State) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        state.is_waiting.store(true, Ordering::Release);
        let read = stream.read(&mut chunk);
        state.is_waiting.store(false, Ordering::Release);
        let n_read = match read {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        state.seen.fetch_add(n_read as u64, Ordering::Release);
        let pushed = keeping.push(&chunk[..n_read]);
        // Stored and not added: the number falls when an old piece is removed.
        state.kept.store(keeping.kept_bytes(), Ordering::Release);
        // Whatever the error is, we keep reading, and the bytes that are lost will be counted.
        if pushed.is_err_and(|error| is_full(&error)) {
            state.found_full.store(true, Ordering::Release);
        }
    }
    state.has_ended.store(true, Ordering::Release);
    write_the_rest(&mut keeping, state);
    // If it cannot be flushed, the count of written bytes is still right.
    let _ = keeping.flush();
}

/// Writes the bytes that are still in memory. While the disk is full it tries again, as long as the
/// run folder exists; any other error is final.
fn write_the_rest(keeping: &mut Keeping, state: &State) {
    loop {
        let written = keeping.write_held();
        state.kept.store(keeping.kept_bytes(), Ordering::Release);
        match written {
            Err(error) if is_full(&error) && keeping.has_folder() => {
                state.found_full.store(true, Ordering::Release);
                thread::sleep(FULL_PAUSE);
            }
            Ok(()) | Err(_) => return,
        }
    }
}
