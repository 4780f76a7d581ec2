//! Streams the contents of files and links into the loop's repository through one git process.
//!
//! `git fast-import` receives bytes from us and opens no file of the checkout itself. It stores
//! only what the repository does not have yet. Nothing here makes a commit or moves a ref.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use crate::blobs::base_size;
use crate::entry::{Entries, Entry, Mode};
use crate::error::{GitError, failed};
use crate::gather::{Found, Gathered};
use crate::git::{Git, pipe_broke};
use crate::id::ObjectId;
use crate::left_out::{LeftOut, Oddity, Reason};
use crate::limits::Limits;
use crate::loop_repo::LoopRepo;
use crate::scratch::Scratch;
use crate::walk::{Got, Kind, Opened, Tree, as_path};

const CHUNK_BYTES: usize = 16 * 1024;

/// Stores the contents of everything in `gathered.files` and moves it to `gathered.entries`.
pub(crate) fn store(
    repo: &LoopRepo,
    tree: &Tree,
    base: &Entries,
    scratch: &Scratch,
    limits: &Limits,
    gathered: &mut Gathered,
) -> Result<(), GitError> {
    let marks = scratch.path().join("marks");
    let files = std::mem::take(&mut gathered.files);
    if files.is_empty() {
        return Ok(());
    }
    let mut source = Source {
        repo,
        tree,
        base,
        limits,
        bytes_left: limits.total_bytes_max,
        has_base_bytes: false,
        shared: BTreeMap::new(),
        special: Vec::new(),
    };
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
    gathered.odd = source.odd();
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

/// A file that has several names.
#[derive(Default)]
struct Shared {
    n_names: u64,
    /// The names at which it was sent.
    paths: Vec<Vec<u8>>,
}

/// The checkout that files are sent from.
struct Source<'a> {
    repo: &'a LoopRepo,
    tree: &'a Tree,
    base: &'a Entries,
    limits: &'a Limits,
    /// How many more bytes are sent.
    bytes_left: u64,
    /// Whether the size of the base is part of that already.
    has_base_bytes: bool,
    /// The files with several names, by their device and number on it.
    shared: BTreeMap<(u64, u64), Shared>,
    /// The files with special bits.
    special: Vec<Vec<u8>>,
}

impl Source<'_> {
    fn send(&mut self, mark: usize, found: &Found, pipe: &mut dyn Write) -> Result<Sent, GitError> {
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
        &mut self,
        mark: usize,
        path: &[u8],
        opened: Opened,
        pipe: &mut dyn Write,
    ) -> Result<Sent, GitError> {
        let size = opened.size;
        let is_large = size > self.limits.file_bytes_max;
        if is_large && size > base_size(self.repo, self.base, path)? {
            return Ok(Sent::Not(Reason::TooLarge));
        }
        self.count(size)?;
        if opened.has_special_bits {
            self.special.push(path.to_vec());
        }
        if opened.n_names > 1 {
            let shared = self.shared.entry(opened.identity).or_default();
            shared.n_names = opened.n_names;
            shared.paths.push(path.to_vec());
        }
        write!(pipe, "blob\nmark :{mark}\ndata {size}\n").map_err(pipe_broke)?;
        self.copy(opened.file, size, path, pipe)?;
        pipe.write_all(b"\n").map_err(pipe_broke)?;
        Ok(Sent::As(if opened.is_executable {
            Mode::Executable
        } else {
            Mode::File
        }))
    }

    /// Counts the bytes of a file. What the base has is free; asking git for it takes a process, so
    /// that is done once and only if it matters.
    fn count(&mut self, size: u64) -> Result<(), GitError> {
        if size > self.bytes_left && !self.has_base_bytes {
            self.has_base_bytes = true;
            self.bytes_left = self.bytes_left.saturating_add(self.base_bytes()?);
        }
        let left = self.bytes_left.checked_sub(size);
        self.bytes_left = left.ok_or_else(|| GitError::TooManyBytes {
            path: self.tree.shown(b""),
            bytes_max: self.limits.total_bytes_max,
        })?;
        Ok(())
    }

    /// The size of all files of the base.
    fn base_bytes(&self) -> Result<u64, GitError> {
        let files = self.base.values().filter(|entry| !entry.is_gitlink());
        let git = self
            .repo
            .git()
            .args(["cat-file", "--batch-check=%(objectsize)"]);
        let command = git.command_line();
        let sizes = git.run_fed(|pipe| {
            files
                .into_iter()
                .try_for_each(|entry| writeln!(pipe, "{}", entry.id).map_err(pipe_broke))
        })?;
        let sizes = String::from_utf8_lossy(&sizes);
        let parsed = sizes.lines().map(str::parse::<u64>).sum::<Result<u64, _>>();
        parsed.map_err(|_| GitError::Garbled { command })
    }

    /// What the tree will not show of the files that were sent.
    fn odd(&mut self) -> Vec<(PathBuf, Oddity)> {
        let special = std::mem::take(&mut self.special).into_iter();
        let special = special.map(|path| (path, Oddity::SpecialBits));
        let shared = std::mem::take(&mut self.shared).into_values();
        // A file all of whose names are in the tree is what its author made.
        let shared = shared.filter(|shared| shared.n_names > shared.paths.len() as u64);
        let shared = shared.flat_map(|shared| shared.paths);
        let shared = shared.map(|path| (path, Oddity::HardLink));
        let all = special.chain(shared);
        all.map(|(path, odd)| (as_path(&path).to_owned(), odd))
            .collect()
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
