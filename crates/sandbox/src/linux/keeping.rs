//! Keeps the beginning and the end of one stream on disk, and never uses more than its bound.
//!
//! Files are only appended to or removed, never rewritten. The beginning stays; of the further
//! pieces the oldest is removed when a new one needs its space. While the disk is full, the newest
//! bytes are held in memory. This module reads no pipe and does not interpret the bytes.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};

use crate::files::RunFolder;
use crate::moments::moment;
use crate::output::piece_name;

/// How many bytes are held in memory while the disk is full. Beyond that, the oldest are dropped.
const HELD_BYTES_MAX: usize = 1024 * 1024;

/// How many pieces are kept. Their total size alone is no bound on their number, since gaps make
/// pieces short.
const PIECES_MAX: usize = 16;

/// One stream on its way to disk.
#[derive(Debug)]
pub(super) struct Keeping {
    folder: RunFolder,
    name: &'static str,
    bounds: Bounds,
    file: File,
    /// The piece that is being written.
    piece: Extent,
    /// The pieces between it and the beginning, oldest first.
    older: VecDeque<Extent>,
    /// The length of the beginning, once a further piece was started.
    head_bytes: u64,
    /// Bytes that are not on disk yet.
    held: Vec<u8>,
    /// The offset of the first held byte in the stream.
    held_from: u64,
}

/// A quarter of the space is for the beginning. The rest is for two pieces of the end, so that one
/// complete piece is always there while the other is being filled.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    head: u64,
    piece: u64,
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    from: u64,
    bytes: u64,
}

impl Keeping {
    /// Creates the file for the stream's beginning.
    pub(super) fn start(
        folder: &RunFolder,
        name: &'static str,
        bytes_max: u64,
    ) -> io::Result<Self> {
        // At least one byte each: with a bound of zero no byte could ever be written.
        let bounds = Bounds {
            head: (bytes_max / 4).max(1),
            piece: (bytes_max / 8 * 3).max(1),
        };
        moment("before", name);
        let file = File::create(folder.file(name))?;
        moment("after", name);
        Ok(Self {
            folder: folder.clone(),
            name,
            bounds,
            file,
            piece: Extent { from: 0, bytes: 0 },
            older: VecDeque::new(),
            head_bytes: 0,
            held: Vec::new(),
            held_from: 0,
        })
    }

    /// Takes the next bytes of the stream. On an error, some of them are still held in memory.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        let written = self.write_held();
        // Dropping the oldest makes a gap, and the next write starts a new piece after it.
        let excess = self.held.len().saturating_sub(HELD_BYTES_MAX);
        self.forget(excess);
        written
    }

    /// Writes as much of the held bytes as the disk accepts.
    pub(super) fn write_held(&mut self) -> io::Result<()> {
        while !self.held.is_empty() {
            let room = usize::try_from(self.room()?)
                .unwrap_or(usize::MAX)
                .min(self.held.len());
            match self.file.write(&self.held[..room]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n_written) => {
                    self.piece.bytes += n_written as u64;
                    self.forget(n_written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Flushes the current piece, since the exit record will count its bytes.
    pub(super) fn flush(&self) -> io::Result<()> {
        if self.folder.flushes() {
            self.file.sync_all()
        } else {
            Ok(())
        }
    }

    /// How many bytes are on disk.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.head_bytes + self.older.iter().map(|piece| piece.bytes).sum::<u64>() + self.piece.bytes
    }

    /// Whether the run folder still exists. If not, waiting for free space is pointless.
    pub(super) fn has_folder(&self) -> bool {
        self.folder.path().exists()
    }

    fn forget(&mut self, n_bytes: usize) {
        self.held.drain(..n_bytes);
        self.held_from += n_bytes as u64;
    }

    /// How many bytes the current piece can take. If it is full, or if bytes before the next one
    /// were dropped, it starts a new piece first.
    fn room(&mut self) -> io::Result<u64> {
        let is_head = self.piece.from == 0;
        let limit = if is_head {
            self.bounds.head
        } else {
            self.bounds.piece
        };
        if self.piece.from + self.piece.bytes != self.held_from || self.piece.bytes >= limit {
            self.begin_piece()?;
            return Ok(self.bounds.piece);
        }
        Ok(limit - self.piece.bytes)
    }

    fn begin_piece(&mut self) -> io::Result<()> {
        self.make_room();
        let name = piece_name(self.name, self.held_from);
        // If this fails, nothing but the removed pieces has changed, and the next call tries again.
        let file = File::create(self.folder.file(&name))?;
        // If it cannot be flushed, the count of written bytes is still right.
        let _ = self.flush();
        match self.piece {
            Extent { from: 0, bytes } => self.head_bytes = bytes,
            piece => self.older.push_back(piece),
        }
        self.piece = Extent {
            from: self.held_from,
            bytes: 0,
        };
        self.file = file;
        Ok(())
    }

    /// Removes the oldest pieces until there is space for a new one.
    ///
    /// The older pieces and the current one together may take the size of one piece, and the new
    /// one takes as much again. The removal comes first, so that the bound holds at every instant.
    fn make_room(&mut self) {
        let current = if self.piece.from == 0 {
            0
        } else {
            self.piece.bytes
        };
        let total =
            |older: &VecDeque<Extent>| older.iter().map(|piece| piece.bytes).sum::<u64>() + current;
        while (total(&self.older) > self.bounds.piece || self.older.len() >= PIECES_MAX)
            && let Some(oldest) = self.older.pop_front()
        {
            // Best effort: a piece that stays takes space, but a reader still knows its place.
            let _ = fs::remove_file(self.folder.file(&piece_name(self.name, oldest.from)));
        }
    }
}
