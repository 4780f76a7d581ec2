//! Streams the contents of files and links into the loop's repository through one git process.
//!
//! `git fast-import` receives bytes from us and opens no file of the checkout itself. It stores
//! only what the repository does not have yet. Nothing here makes a commit or moves a ref.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write};
use std::path::Path;

use crate::entry::{Entries, Entry, Mode};
use crate::error::{GitError, failed};
use crate::gather::{Found, Gathered};
use crate::git::{Git, pipe_broke};
use crate::id::ObjectId;
use crate::left_out::{LeftOut, Reason};
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;
use crate::walk::{Got, Kind, Tree};

/// The largest file that is stored, unless the base has one at least as large at that path.
const FILE_BYTES_MAX: u64 = 100 * 1024 * 1024;
const CHUNK_BYTES: usize = 16 * 1024;

/// Stores the contents of everything in `gathered.files` and moves it to `gathered.entries`.
pub(crate) fn store(
    repo: &LoopRepo,
    tree: &Tree,
    base: &Entries,
    scratch: &Scratch,
    gathered: &mut Gathered,
) -> Result<(), GitError> {
    let marks = scratch.path().join("marks");
    let files = std::mem::take(&mut gathered.files);
    let source = Source { repo, tree, base };
    let mut modes = BTreeMap::new();
    fast_import(repo, &marks).run_fed(|pipe| {
        // Marks start at 1, because git reserves 0.
        for (mark, found) in (1..).zip(&files) {
            match source.send(mark, found, pipe)? {
                Sent::As(mode) => drop(modes.insert(mark, mode)),
                Sent::Not(reason) => gathered.left_out.push(LeftOut::new(&found.path, reason)),
            }
        }
        // With `--done`, a stream without this line is an error: if we stop in the middle, git must
        // not take that for the end.
        pipe.write_all(b"done\n").map_err(pipe_broke)
    })?;
    let ids = if modes.is_empty() {
        BTreeMap::new()
    } else {
        read_marks(&marks)?
    };
    for (mark, found) in (1..).zip(files) {
        let Some(mode) = modes.get(&mark) else {
            continue;
        };
        // Every file that was sent must have an id, or the tree would silently lack it.
        let id = ids.get(&mark).ok_or_else(garbled)?.clone();
        gathered
            .entries
            .insert(found.path, Entry { mode: *mode, id });
    }
    Ok(())
}

/// Stores these contents and returns their ids in the same order.
pub(crate) fn store_blobs(
    repo: &LoopRepo,
    scratch: &Scratch,
    contents: &[&[u8]],
) -> Result<Vec<ObjectId>, GitError> {
    if contents.is_empty() {
        return Ok(Vec::new());
    }
    let marks = scratch.path().join("marks");
    fast_import(repo, &marks).run_fed(|pipe| {
        for (mark, content) in (1..).zip(contents) {
            send_bytes(mark, content, pipe)?;
        }
        pipe.write_all(b"done\n").map_err(pipe_broke)
    })?;
    let mut ids = read_marks(&marks)?;
    (1..=contents.len())
        .map(|mark| ids.remove(&mark).ok_or_else(garbled))
        .collect()
}

fn fast_import(repo: &LoopRepo, marks: &Path) -> Git {
    let mut export = OsString::from("--export-marks=");
    export.push(marks);
    repo.git()
        .args(["fast-import", "--quiet", "--done"])
        .arg(export)
}

/// What happened to one file.
enum Sent {
    /// It was sent and has this mode.
    As(Mode),
    /// It was left out.
    Not(Reason),
}

/// The checkout that files are sent from.
struct Source<'a> {
    repo: &'a LoopRepo,
    tree: &'a Tree,
    base: &'a Entries,
}

impl Source<'_> {
    fn send(&self, mark: usize, found: &Found, pipe: &mut dyn Write) -> Result<Sent, GitError> {
        let sent = match found.kind {
            Kind::Link => match self.tree.link(&found.path)? {
                Got::It(target) => {
                    Got::It(send_bytes(mark, &target, pipe).map(|()| Sent::As(Mode::Link))?)
                }
                Got::Unreadable => Got::Unreadable,
                Got::Gone => Got::Gone,
            },
            // Only files and links get here. If a file has become something else by now, `file`
            // finds out.
            Kind::File | Kind::Folder | Kind::Special => match self.tree.file(&found.path)? {
                Got::It(file) => Got::It(self.send_file(mark, &found.path, file, pipe)?),
                Got::Unreadable => Got::Unreadable,
                Got::Gone => Got::Gone,
            },
        };
        match sent {
            Got::It(sent) => Ok(sent),
            Got::Unreadable => Ok(Sent::Not(Reason::Unreadable)),
            Got::Gone => Err(GitError::Changed {
                path: self.tree.shown(&found.path),
            }),
        }
    }

    fn send_file(
        &self,
        mark: usize,
        path: &[u8],
        (file, size, executable): (File, u64, bool),
        pipe: &mut dyn Write,
    ) -> Result<Sent, GitError> {
        if size > FILE_BYTES_MAX && size > self.base_size(path)? {
            return Ok(Sent::Not(Reason::TooLarge));
        }
        write!(pipe, "blob\nmark :{mark}\ndata {size}\n").map_err(pipe_broke)?;
        self.copy(file, size, path, pipe)?;
        pipe.write_all(b"\n").map_err(pipe_broke)?;
        Ok(Sent::As(if executable {
            Mode::Executable
        } else {
            Mode::File
        }))
    }

    /// Sends exactly as many bytes as were announced. If the file grew meanwhile the rest is left
    /// out; if it shrank, the stream cannot be completed and the snapshot fails.
    fn copy(
        &self,
        mut file: File,
        size: u64,
        path: &[u8],
        pipe: &mut dyn Write,
    ) -> Result<(), GitError> {
        let mut chunk = [0; CHUNK_BYTES];
        let mut left = size;
        while left > 0 {
            let wanted = usize::try_from(left)
                .unwrap_or(CHUNK_BYTES)
                .min(CHUNK_BYTES);
            let n_read = file
                .read(&mut chunk[..wanted])
                .map_err(failed("read", &self.tree.shown(path)))?;
            if n_read == 0 {
                return Err(GitError::Changed {
                    path: self.tree.shown(path),
                });
            }
            pipe.write_all(&chunk[..n_read]).map_err(pipe_broke)?;
            left -= n_read as u64;
        }
        Ok(())
    }

    /// The size of the file that the base has at a path, zero if there is none. It costs a process,
    /// so it is only asked for files beyond the limit.
    fn base_size(&self, path: &[u8]) -> Result<u64, GitError> {
        let Some(entry) = self.base.get(path).filter(|entry| !entry.is_gitlink()) else {
            return Ok(0);
        };
        let git = self.repo.git().args(["cat-file", "-s", entry.id.as_str()]);
        let command = git.command_line();
        git.line()?
            .parse()
            .map_err(|_| GitError::Garbled { command })
    }
}

fn send_bytes(mark: usize, bytes: &[u8], pipe: &mut dyn Write) -> Result<(), GitError> {
    write!(pipe, "blob\nmark :{mark}\ndata {}\n", bytes.len())
        .and_then(|()| pipe.write_all(bytes))
        .and_then(|()| pipe.write_all(b"\n"))
        .map_err(pipe_broke)
}

fn read_marks(path: &Path) -> Result<BTreeMap<usize, ObjectId>, GitError> {
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    text.lines()
        .map(|line| parse_mark(line).ok_or_else(garbled))
        .collect()
}

/// Parses `:mark id`.
fn parse_mark(line: &str) -> Option<(usize, ObjectId)> {
    let (mark, id) = line.strip_prefix(':')?.split_once(' ')?;
    Some((mark.parse().ok()?, ObjectId::parse(id).ok()?))
}

fn garbled() -> GitError {
    GitError::Garbled {
        command: "fast-import".to_owned(),
    }
}
