//! Copies one output stream of the program to where it is kept.
//!
//! It reads on whatever becomes of the bytes, so that the program is never blocked by us. It does
//! not look at what it copies.

use std::io::{self, PipeReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::keeping::Keeping;
use crate::files::is_full;

const CHUNK_BYTES: usize = 64 * 1024;

const PAUSE: Duration = Duration::from_millis(5);

/// How often a full disk is tried again.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// One stream that is being copied.
#[derive(Debug)]
pub(super) struct Capture {
    state: Arc<State>,
    copying: JoinHandle<()>,
}

/// What became of the bytes of one stream.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) kept_bytes: u64,
    pub(super) dropped_bytes: u64,
    /// The disk refused some of them at first.
    pub(super) found_full: bool,
}

#[derive(Debug, Default)]
struct State {
    seen: AtomicU64,
    kept: AtomicU64,
    has_ended: AtomicBool,
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

    /// All bytes seen so far, kept or not: what moves while the program talks.
    pub(super) fn seen_bytes(&self) -> u64 {
        self.state.seen.load(Ordering::Acquire)
    }

    /// Waits for the stream's end, but not for ever: a process outside the tree may have been
    /// handed the pipe. What came before the end is waited for until it is on the disk: the answer
    /// may be in it.
    pub(super) fn finish(self, wait_max: Duration) -> Captured {
        let started = Instant::now();
        let has_ended = || self.state.has_ended.load(Ordering::Acquire);
        while !self.copying.is_finished() && (has_ended() || started.elapsed() < wait_max) {
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
        let n_read = match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        state.seen.fetch_add(n_read as u64, Ordering::Release);
        let pushed = keeping.push(&chunk[..n_read]);
        state.kept.store(keeping.kept_bytes(), Ordering::Release);
        if pushed.is_err_and(|error| is_full(&error)) {
            state.found_full.store(true, Ordering::Release);
        }
    }
    state.has_ended.store(true, Ordering::Release);
    write_the_rest(&mut keeping, state);
    // Where it cannot be flushed the record is still right about what was written.
    let _ = keeping.flush();
}

/// A full disk is waited for, as long as the run's folder is there; any other refusal is final.
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
