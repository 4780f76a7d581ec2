//! A PRD on the operator's disk: read it, and write one story's state back into it.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::WriteBack;
use prd::limits::{FILE_BYTES_MAX, TICKETS_MAX};
use prd::{Diagnostic, Input, Mark, Marked, Options, Reading};
use workspace::operator_file::{self, FileError, Snapshot};

use crate::progress::one_line;
use crate::words::words_of;

/// A PRD that was read, with what is needed to write it back.
#[derive(Debug)]
pub struct PrdFile {
    /// What it says.
    pub reading: Reading,
    /// The files as they were, in the order of the reading's sources.
    pub snapshots: Vec<Snapshot>,
    /// Whether it is a folder of tickets.
    pub is_folder: bool,
}

/// Reads a PRD file or a folder of tickets; the diagnostic says why it cannot be read at all.
pub fn read_prd(path: &Path, options: &Options) -> Result<PrdFile, Box<Diagnostic>> {
    let name = path.to_string_lossy().into_owned();
    match operator_file::read(path, FILE_BYTES_MAX) {
        Ok(snapshot) => {
            let input = Input::File {
                name,
                bytes: snapshot.bytes().to_vec(),
            };
            Ok(PrdFile {
                reading: prd::read(input, options),
                snapshots: vec![snapshot],
                is_folder: false,
            })
        }
        Err(FileError::Folder) => read_folder(path, name, options),
        Err(error) => Err(not_readable(&name, &error)),
    }
}

fn read_folder(folder: &Path, name: String, options: &Options) -> Result<PrdFile, Box<Diagnostic>> {
    let paths = ticket_paths(folder, &name)?;
    let (mut snapshots, mut files, mut room) = (Vec::new(), Vec::new(), FILE_BYTES_MAX);
    for path in paths {
        let snapshot = operator_file::read(&path, room)
            .map_err(|error| not_readable(&path.to_string_lossy(), &error))?;
        // One byte over the limit is enough for the reader to say that it is too much.
        room = room.saturating_sub(snapshot.bytes().len());
        files.push((
            path.to_string_lossy().into_owned(),
            snapshot.bytes().to_vec(),
        ));
        snapshots.push(snapshot);
    }
    Ok(PrdFile {
        reading: prd::read(Input::Tickets { name, files }, options),
        snapshots,
        is_folder: true,
    })
}

fn ticket_paths(folder: &Path, name: &str) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let refuse = |error: std::io::Error| {
        Box::new(Diagnostic::not_readable(
            name,
            &words_of(&error),
            "check the folder's rights",
        ))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let path = entry.map_err(refuse)?.path();
        if path.extension().is_some_and(|ending| ending == "md") && paths.len() <= TICKETS_MAX {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let help = "name the PRD file itself; a folder is read as Markdown tickets (*.md with front matter)";
        return Err(Box::new(Diagnostic::not_readable(
            name,
            "the folder holds no Markdown tickets",
            help,
        )));
    }
    paths.sort();
    Ok(paths)
}

fn not_readable(name: &str, error: &FileError) -> Box<Diagnostic> {
    let help = match error {
        FileError::Missing => "check the path; `loopwright prd check -` reads standard input",
        FileError::NotRegular => "pipe it in instead: `loopwright prd check - < FILE`",
        FileError::Folder => "only files are read from a folder, and this is a folder itself",
        FileError::Changed | FileError::Busy | FileError::Io { .. } => {
            "check the path and your rights to it"
        }
    };
    let reason = match error {
        FileError::Io { source, .. } => words_of(source),
        other => other.to_string(),
    };
    Box::new(Diagnostic::not_readable(name, &reason, help))
}

/// Writes a story's state into the PRD. Whatever goes wrong never fails a story: it is said.
pub fn write_back(path: &Path, story: &str, mark: Mark) -> WriteBack {
    write(path, |reading, options| {
        prd::mark(reading, story, mark, options)
    })
}

/// Writes into the PRD that a story was set aside, and in its notes, where it has some, that a
/// person must look at it.
pub fn write_back_for_review(path: &Path, story: &str, reason: &str) -> WriteBack {
    let reason = one_line(reason);
    write(path, |reading, options| {
        prd::mark_for_review(reading, story, &reason, options)
    })
}

/// Puts one status word of a story in the place of another, if that one stands there. A file that says
/// something else by now is left as it is.
pub fn swap_status(path: &Path, story: &str, from: &str, to: &str) -> WriteBack {
    write(path, |reading, options| {
        prd::swap_word(reading, story, from, to, options)
    })
}

type Marking = Result<Marked, Box<Diagnostic>>;

fn write(path: &Path, mark: impl Fn(&Reading, &Options) -> Marking) -> WriteBack {
    const TRIES: usize = 3;
    for _ in 0..TRIES {
        match try_write(path, &mark) {
            Ok(()) => return WriteBack::Done,
            Err(WriteBackFault::Changed) => {}
            // Nothing is owed to a file that has no place for it: the loop keeps the state.
            Err(WriteBackFault::NoPlace) => return WriteBack::Off,
            Err(WriteBackFault::Other(other)) => return WriteBack::LeftAlone { why: other },
        }
    }
    WriteBack::LeftAlone {
        why: "the file changes again and again".to_owned(),
    }
}

enum WriteBackFault {
    Changed,
    NoPlace,
    Other(String),
}

fn try_write(
    path: &Path,
    mark: &impl Fn(&Reading, &Options) -> Marking,
) -> Result<(), WriteBackFault> {
    let options = Options::default();
    let file =
        read_prd(path, &options).map_err(|diagnostic| WriteBackFault::Other(diagnostic.message))?;
    let marked = mark(&file.reading, &options).map_err(|refused| match refused.code {
        "PRD021" => WriteBackFault::NoPlace,
        _ => WriteBackFault::Other(refused.message),
    })?;
    match operator_file::replace(&file.snapshots[marked.file], marked.text.as_bytes()) {
        Ok(()) => Ok(()),
        Err(FileError::Changed) => Err(WriteBackFault::Changed),
        Err(error) => Err(WriteBackFault::Other(words_of(&error))),
    }
}
