//! Reads the contents of many blobs through one git process.
//!
//! The process starts with the first read and ends when [`Blobs`] is dropped. It is asked for one
//! blob at a time and its answer is read before the next question, so the two sides cannot block
//! each other with full pipes.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::entry::Entries;
use crate::error::GitError;
use crate::id::ObjectId;
use crate::loop_repo::LoopRepo;

const COMMAND: &str = "cat-file --batch";
/// Far more than an id, a kind and a length need.
const HEADER_BYTES_MAX: u64 = 1024;

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
    process: Mutex<Option<Process>>,
}

impl Blobs {
    pub(crate) fn of(repo: &LoopRepo) -> Self {
        Self {
            repo: repo.clone(),
            process: Mutex::new(None),
        }
    }

    pub(crate) fn read(&self, id: &ObjectId, bytes_max: usize) -> Result<Blob, GitError> {
        // The process is taken out and only put back after a complete answer. So whatever goes
        // wrong below, even a panic, drops a process that is in the middle of an answer.
        let mut place = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let mut process = match place.take() {
            Some(process) => process,
            None => Process::start(&self.repo)?,
        };
        let blob = process.read(id, bytes_max)?;
        // The content of a blob that is too large is not read, so its process is of no further use:
        // the next read starts a new one.
        if matches!(blob, Blob::Whole(_)) {
            *place = Some(process);
        }
        Ok(blob)
    }
}

#[derive(Debug)]
struct Process {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start(repo: &LoopRepo) -> Result<Self, GitError> {
        let mut child = repo.git().args(["cat-file", "--batch"]).spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(mut stderr)) = pipes else {
            unreachable!("all three pipes were asked for")
        };
        // Nobody needs standard error, but a full pipe would block git. The thread ends with the
        // process.
        let started = thread::Builder::new().spawn(move || io::copy(&mut stderr, &mut io::sink()));
        let process = Self {
            child,
            questions,
            answers: BufReader::new(answers),
        };
        // Where no thread is to be had, dropping the process ends it.
        started.map(|_| process).map_err(broke)
    }

    fn read(&mut self, id: &ObjectId, bytes_max: usize) -> Result<Blob, GitError> {
        writeln!(self.questions, "{id}")
            .and_then(|()| self.questions.flush())
            .map_err(broke)?;
        let mut header = Vec::new();
        (&mut self.answers)
            .take(HEADER_BYTES_MAX)
            .read_until(b'\n', &mut header)
            .map_err(broke)?;
        let bytes = length(&header, id).ok_or_else(garbled)?;
        match usize::try_from(bytes) {
            Ok(length) if length <= bytes_max => self.content(length).map(Blob::Whole),
            Ok(_) | Err(_) => Ok(Blob::TooLarge { bytes }),
        }
    }

    fn content(&mut self, length: usize) -> Result<Vec<u8>, GitError> {
        let mut content = vec![0; length];
        self.answers.read_exact(&mut content).map_err(broke)?;
        let mut end = [0];
        self.answers.read_exact(&mut end).map_err(broke)?;
        if end == *b"\n" {
            Ok(content)
        } else {
            Err(garbled())
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Git only reads here, so it is safe to kill it at any point.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses `id blob length`.
fn length(header: &[u8], id: &ObjectId) -> Option<u64> {
    let header = std::str::from_utf8(header).ok()?.strip_suffix('\n')?;
    header
        .strip_prefix(id.as_str())?
        .strip_prefix(" blob ")?
        .parse()
        .ok()
}

fn broke(source: io::Error) -> GitError {
    GitError::Run {
        command: COMMAND.to_owned(),
        source,
    }
}

fn garbled() -> GitError {
    GitError::Garbled {
        command: COMMAND.to_owned(),
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
