//! One output pipe of a child, and what is kept of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Heard {
    /// Gone once nothing more is read from it; closing it ends a child that goes on writing.
    pipe: Option<File>,
    kept: io::Result<Vec<u8>>,
    keeps: Keeps,
}

/// Which part is kept of what a child says.
#[derive(Clone, Copy, Debug)]
enum Keeps {
    /// At least one byte more than this, which tells that there was more; then nothing more is read.
    Start(usize),
    End(usize),
}

impl Heard {
    pub(crate) fn start(pipe: Option<impl Into<OwnedFd>>, bytes_max: usize) -> Self {
        Self::new(pipe, Keeps::Start(bytes_max))
    }

    pub(crate) fn end(pipe: Option<impl Into<OwnedFd>>, bytes_max: usize) -> Self {
        Self::new(pipe, Keeps::End(bytes_max))
    }

    fn new(pipe: Option<impl Into<OwnedFd>>, keeps: Keeps) -> Self {
        Self {
            pipe: pipe.map(|pipe| File::from(pipe.into())),
            kept: Ok(Vec::new()),
            keeps,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn into_kept(self) -> io::Result<Vec<u8>> {
        self.kept
    }

    /// Reads once from a pipe that has something to say, which may be that it is over.
    pub(crate) fn take_in(&mut self) {
        let (Some(pipe), Ok(kept)) = (&mut self.pipe, &mut self.kept) else {
            return;
        };
        let mut chunk = [0; CHUNK];
        let n_read = match pipe.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            Err(error) => {
                self.kept = Err(error);
                self.pipe = None;
                return;
            }
            Ok(n_read) => n_read,
        };
        kept.extend_from_slice(&chunk[..n_read]);
        let is_enough = match self.keeps {
            Keeps::Start(bytes_max) => kept.len() > bytes_max,
            Keeps::End(bytes_max) => {
                let excess = kept.len().saturating_sub(bytes_max);
                kept.drain(..excess);
                false
            }
        };
        if n_read == 0 || is_enough {
            self.pipe = None;
        }
    }
}
