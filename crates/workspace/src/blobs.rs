//! Reads the contents of many blobs through one git process.
//!
//! The process starts with the first read and ends when [`Blobs`] is dropped.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::{Mutex, PoisonError};

use crate::conversation::Conversation;
use crate::entry::Entries;
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;

/// Far more than an id, a kind and a length need.
const HEADER_BYTES_MAX: u64 = 1024;

/// A folder of a million files with long names.
const TREE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The result of reading one blob.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blob {
    /// The whole content.
    Whole(Vec<u8>),
    /// The content is longer than the caller's limit.
    TooLarge {
        /// The length of the content.
        bytes: u64,
    },
}

/// The blobs of one repository.
#[derive(Debug)]
pub(crate) struct Blobs {
    repo: LoopRepo,
    process: Mutex<Option<Conversation>>,
}

impl Blobs {
    pub(crate) fn of(repo: &LoopRepo) -> Self {
        Self {
            repo: repo.clone(),
            process: Mutex::new(None),
        }
    }

    pub(crate) fn read(&self, id: &ObjectId, bytes_max: usize) -> Result<Blob, GitError> {
        self.read_object("blob", id.as_str(), bytes_max)
    }

    /// The content of a tree object: one folder.
    pub(crate) fn read_tree(&self, id: &str) -> Result<Vec<u8>, GitError> {
        match self.read_object("tree", id, TREE_BYTES_MAX)? {
            Blob::Whole(content) => Ok(content),
            Blob::TooLarge { .. } => Err(GitError::Garbled {
                command: "cat-file --batch".to_owned(),
            }),
        }
    }

    fn read_object(&self, kind: &str, id: &str, bytes_max: usize) -> Result<Blob, GitError> {
        // The process is taken out and only put back after a complete answer. So whatever goes
        // wrong below, even a panic, drops a process that is in the middle of an answer.
        let mut place = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let mut process = match place.take() {
            Some(process) => process,
            None => Conversation::start(self.repo.git().args(["cat-file", "--batch"]))?,
        };
        let blob = read(&mut process, kind, id, bytes_max)?;
        // The content of a blob that is too large is not read, so its process is of no further use:
        // the next read starts a new one.
        if matches!(blob, Blob::Whole(_)) {
            *place = Some(process);
        }
        Ok(blob)
    }
}

/// Reads one object of this kind; only its length is read where that is above the limit.
fn read(
    process: &mut Conversation,
    kind: &str,
    id: &str,
    bytes_max: usize,
) -> Result<Blob, GitError> {
    writeln!(process.questions, "{id}")
        .and_then(|()| process.questions.flush())
        .map_err(|error| process.broke(error))?;
    let mut header = Vec::new();
    (&mut process.answers)
        .take(HEADER_BYTES_MAX)
        .read_until(b'\n', &mut header)
        .map_err(|error| process.broke(error))?;
    let bytes = length(&header, id, kind).ok_or_else(|| process.garbled())?;
    match usize::try_from(bytes) {
        Ok(length) if length <= bytes_max => content(process, length).map(Blob::Whole),
        Ok(_) | Err(_) => Ok(Blob::TooLarge { bytes }),
    }
}

fn content(process: &mut Conversation, length: usize) -> Result<Vec<u8>, GitError> {
    let mut content = vec![0; length];
    let mut end = [0];
    process
        .answers
        .read_exact(&mut content)
        .and_then(|()| process.answers.read_exact(&mut end))
        .map_err(|error| process.broke(error))?;
    if end == *b"\n" {
        Ok(content)
    } else {
        Err(process.garbled())
    }
}

/// Parses `id kind length`.
fn length(header: &[u8], id: &str, kind: &str) -> Option<u64> {
    let header = std::str::from_utf8(header).ok()?.strip_suffix('\n')?;
    let rest = header.strip_prefix(id)?.strip_prefix(' ')?;
    let (seen, length) = rest.split_once(' ')?;
    length.parse().ok().filter(|_| seen == kind)
}

/// The size of the file that the base has at a path, zero if there is none. It costs a process, so it
/// is only asked for files beyond a limit.
pub(crate) fn base_size(repo: &LoopRepo, base: &Entries, path: &[u8]) -> Result<u64, GitError> {
    let Some(entry) = base.get(path).filter(|entry| !entry.is_gitlink()) else {
        return Ok(0);
    };
    let git = repo.git().args(["cat-file", "-s", entry.id.as_str()]);
    let command = git.command_line();
    git.line()?
        .parse()
        .map_err(|_| GitError::Garbled { command })
}
