//! Reads the contents of many blobs through one git process.
//!
//! The process starts with the first read. When [`Blobs`] is dropped, it waits for the next one of the
//! same repository.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::{Mutex, PoisonError};

use crate::conversation::Conversation;
use crate::entry::{Entries, TreeLike};
use crate::error::GitError;
use crate::id::{CommitId, ObjectId, TreeId};
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

    /// The id of the tree that an object is or, as a commit, has.
    pub(crate) fn tree_of(&self, id: &str) -> Result<String, GitError> {
        let garbled = || GitError::Garbled {
            command: format!("cat-file --batch, asked for the tree of {id}"),
        };
        let object = self.read_any(id, TREE_BYTES_MAX)?;
        match (object.kind.as_str(), object.content) {
            ("tree", _) => Ok(id.to_owned()),
            ("commit", Blob::Whole(content)) => {
                let line = content.split(|byte| *byte == b'\n').next();
                let line = line.and_then(|line| std::str::from_utf8(line).ok());
                let tree = line.and_then(|line| line.strip_prefix("tree "));
                tree.map(str::to_owned).ok_or_else(garbled)
            }
            _ => Err(garbled()),
        }
    }

    fn read_object(&self, kind: &str, id: &str, bytes_max: usize) -> Result<Blob, GitError> {
        let object = self.read_any(id, bytes_max)?;
        if object.kind == kind {
            return Ok(object.content);
        }
        Err(GitError::Garbled {
            command: "cat-file --batch".to_owned(),
        })
    }

    fn read_any(&self, id: &str, bytes_max: usize) -> Result<Object, GitError> {
        // The process is taken out and only put back after a complete answer. So whatever goes
        // wrong below, even a panic, drops a process that is in the middle of an answer.
        let mut place = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = place.take().or_else(|| self.repo.idle_reader.take());
        if let Some(mut process) = waiting {
            // One that waited may have died meanwhile; a new one tells what is really wrong.
            if let Ok(object) = read(&mut process, id, bytes_max) {
                keep(&mut place, process, &object);
                return Ok(object);
            }
        }
        let mut process = Conversation::start(self.repo.git().args(["cat-file", "--batch"]))?;
        let object = read(&mut process, id, bytes_max)?;
        keep(&mut place, process, &object);
        Ok(object)
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        let place = self.process.get_mut();
        if let Some(process) = place.unwrap_or_else(PoisonError::into_inner).take() {
            self.repo.idle_reader.leave(process);
        }
    }
}

/// Keeps a process for the next read. The content of an object that is too large is not read, so its
/// process is of no further use.
fn keep(place: &mut Option<Conversation>, process: Conversation, object: &Object) {
    if matches!(object.content, Blob::Whole(_)) {
        *place = Some(process);
    }
}

/// One object, of whatever kind it is.
struct Object {
    kind: String,
    content: Blob,
}

/// Reads one object; only its length is read where that is above the limit.
fn read(process: &mut Conversation, id: &str, bytes_max: usize) -> Result<Object, GitError> {
    writeln!(process.questions, "{id}")
        .and_then(|()| process.questions.flush())
        .map_err(|error| process.broke(error))?;
    let mut header = Vec::new();
    (&mut process.answers)
        .take(HEADER_BYTES_MAX)
        .read_until(b'\n', &mut header)
        .map_err(|error| process.broke(error))?;
    let (kind, bytes) = kind_and_length(&header, id).ok_or_else(|| process.garbled())?;
    let content = match usize::try_from(bytes) {
        Ok(length) if length <= bytes_max => content(process, length).map(Blob::Whole)?,
        Ok(_) | Err(_) => Blob::TooLarge { bytes },
    };
    Ok(Object { kind, content })
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
fn kind_and_length(header: &[u8], id: &str) -> Option<(String, u64)> {
    let header = std::str::from_utf8(header).ok()?.strip_suffix('\n')?;
    let rest = header.strip_prefix(id)?.strip_prefix(' ')?;
    let (kind, length) = rest.split_once(' ')?;
    Some((kind.to_owned(), length.parse().ok()?))
}

impl LoopRepo {
    /// The tree of a commit.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        self.tree_id(commit)
    }

    /// The id of a tree, which a commit stands for.
    pub(crate) fn tree_id(&self, files: &dyn TreeLike) -> Result<TreeId, GitError> {
        let id = files.object_id();
        let answer = self.remember(&["tree of", id], || {
            Ok(Blobs::of(self).tree_of(id)?.into_bytes())
        })?;
        TreeId::parse(&String::from_utf8_lossy(&answer))
    }
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
