//! Shows a program's standard output, as it comes, to somebody who knows what it means and says when
//! the program must be ended.

use std::time::{Duration, Instant};

use crate::files::RunFolder;
use crate::{Stream, Watch, output_from};

/// How often the output is looked at.
const PAUSE: Duration = Duration::from_millis(500);

/// Bytes that are read at once.
const CHUNK_BYTES: u64 = 1024 * 1024;

/// How far the output was shown.
pub(super) struct Watcher {
    watch: Option<Watch>,
    offset: u64,
    looked_at: Instant,
}

impl Watcher {
    pub(super) fn new(watch: Option<Watch>) -> Self {
        Self {
            watch,
            offset: 0,
            looked_at: Instant::now(),
        }
    }

    /// Shows what is new, and says whether the program must be ended.
    pub(super) fn must_end(&mut self, folder: &RunFolder) -> bool {
        let Some(watch) = &mut self.watch else {
            return false;
        };
        if self.looked_at.elapsed() < PAUSE {
            return false;
        }
        self.looked_at = Instant::now();
        // What cannot be read now is read the next time: nothing else depends on it.
        while let Ok(Some(piece)) =
            output_from(folder.path(), Stream::Stdout, self.offset, CHUNK_BYTES)
        {
            // A line that was cut must not be joined with the rest of another one.
            let is_gap = piece.from > self.offset;
            self.offset = piece.from + piece.bytes.len() as u64;
            if (is_gap && watch(b"\n")) || watch(&piece.bytes) {
                return true;
            }
        }
        false
    }
}
