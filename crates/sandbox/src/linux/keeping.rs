//! Keeps the beginning and the end of one stream on disk, within a bound at every moment.
//!
//! Files are only ever appended to or removed, never rewritten: the beginning stays, and of the
//! further pieces the oldest goes when a new one needs its room. Where the disk is full the newest
//! bytes are held in memory until there is room. It knows no pipe and does not look at what it
//! keeps.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};

use crate::files::RunFolder;
use crate::moments::moment;
use crate::output::piece_name;

/// Bytes that are held in memory for want of room on the disk; when there are more, the oldest are
/// dropped.
const HELD_BYTES_MAX: usize = 1024 * 1024;

/// Gaps make pieces short; so many are kept at most.
const PIECES_MAX: usize = 16;

/// One stream on its way to the disk.
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
    head_bytes: u64,
    held: Vec<u8>,
    held_from: u64,
}

/// A quarter of the room is for the beginning; the rest holds two pieces of the end, so that at
/// least one is whole.
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
    /// Makes the file of the stream's beginning.
    pub(super) fn start(
        folder: &RunFolder,
        name: &'static str,
        bytes_max: u64,
    ) -> io::Result<Self> {
        let bounds = Bounds {
            head: (bytes_max / 4).max(1),
            piece: (bytes_max / 8 * 3).max(1),
        };
        moment("before", name);
        let file = File::create(folder.file(name))?;
        moment("after", name);
        let (piece, older) = (Extent { from: 0, bytes: 0 }, VecDeque::new());
        let folder = folder.clone();
        Ok(Self {
            folder,
            name,
            bounds,
            file,
            piece,
            older,
            head_bytes: 0,
            held: Vec::new(),
            held_from: 0,
        })
    }

    /// Takes the next bytes of the stream. An error means that they, or some of them, are held in
    /// memory.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        let written = self.write_held();
        let excess = self.held.len().saturating_sub(HELD_BYTES_MAX);
        self.forget(excess);
        written
    }

    /// Writes what is held in memory, as far as the disk takes it.
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

    /// The exit record will count these bytes.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Bytes on the disk.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.head_bytes + self.older.iter().map(|piece| piece.bytes).sum::<u64>() + self.piece.bytes
    }

    /// Whether the folder is still there: if not, there is nothing to wait for.
    pub(super) fn has_folder(&self) -> bool {
        self.folder.path().exists()
    }

    fn forget(&mut self, n_bytes: usize) {
        self.held.drain(..n_bytes);
        self.held_from += n_bytes as u64;
    }

    /// How much the piece that comes next may take; a full piece, or a gap before the next byte,
    /// begins a new one.
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
        let file = File::create(self.folder.file(&name))?;
        // Where it cannot be flushed the record is still right about what was written.
        let _ = self.file.sync_all();
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

    /// Removes the oldest pieces until the one that is being written and a new one fit.
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
            // One that cannot be removed is gone for the reader too, once its run is.
            let _ = fs::remove_file(self.folder.file(&piece_name(self.name, oldest.from)));
        }
    }
}
