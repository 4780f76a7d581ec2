//! Brings a PRD's bytes from the disk or standard input to the reader.
//!
//! What cannot be read becomes diagnostic PRD001, so that a wrong path looks like every other complaint.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use prd::limits::{FILE_BYTES_MAX, TICKETS_MAX};
use prd::{Diagnostic, Input, Options, Reading};
use workspace::operator_file::{self, FileError, Snapshot};

use crate::args::PrdSource;

/// A PRD that was read, with what is needed to write it back.
pub(crate) struct PrdInput {
    pub(crate) reading: Reading,
    pub(crate) options: Options,
    /// The files as they were, in the order of the reading's sources; empty for standard input.
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Stdin,
}

/// Reads a PRD from wherever it is; the diagnostic says why it could not be read at all.
pub(crate) fn read(source: &PrdSource) -> Result<PrdInput, Box<Diagnostic>> {
    let options = Options { tools: source.tools.clone() };
    let name = source.file.to_string_lossy().into_owned();
    if name == "-" {
        let bytes = read_stdin()?;
        let reading = prd::read(Input::File { name: "<stdin>".to_owned(), bytes }, &options);
        return Ok(PrdInput { reading, options, snapshots: Vec::new(), kind: Kind::Stdin });
    }
    match operator_file::read(&source.file, FILE_BYTES_MAX) {
        Ok(snapshot) => {
            let input = Input::File { name, bytes: snapshot.bytes().to_vec() };
            Ok(PrdInput {
                reading: prd::read(input, &options),
                options,
                snapshots: vec![snapshot],
                kind: Kind::File,
            })
        }
        Err(FileError::Folder) => read_folder(&source.file, name, options),
        Err(error) => Err(not_readable(&name, &error)),
    }
}

fn read_stdin() -> Result<Vec<u8>, Box<Diagnostic>> {
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    match std::io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(Box::new(Diagnostic::not_readable("-", &error.to_string(), "pipe the PRD into the command")))
        }
    }
}

fn read_folder(folder: &Path, name: String, options: Options) -> Result<PrdInput, Box<Diagnostic>> {
    let refuse = |error: &dyn std::fmt::Display| {
        Box::new(Diagnostic::not_readable(&name, &error.to_string(), "check the folder's rights"))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| refuse(&error))? {
        let path = entry.map_err(|error| refuse(&error))?.path();
        if path.extension().is_some_and(|ending| ending == "md") && paths.len() <= TICKETS_MAX {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let help = "name the PRD file itself; a folder is read as Markdown tickets (*.md with front matter)";
        return Err(Box::new(Diagnostic::not_readable(&name, "the folder holds no Markdown tickets", help)));
    }
    paths.sort();
    let (mut snapshots, mut files, mut room) = (Vec::new(), Vec::new(), FILE_BYTES_MAX);
    for path in paths {
        let snapshot = operator_file::read(&path, room)
            .map_err(|error| not_readable(&path.to_string_lossy(), &error))?;
        // One byte over the limit is enough for the reader to say that it is too much.
        room = room.saturating_sub(snapshot.bytes().len());
        files.push((path.to_string_lossy().into_owned(), snapshot.bytes().to_vec()));
        snapshots.push(snapshot);
    }
    let reading = prd::read(Input::Tickets { name, files }, &options);
    Ok(PrdInput { reading, options, snapshots, kind: Kind::Folder })
}

fn not_readable(name: &str, error: &FileError) -> Box<Diagnostic> {
    let help = match error {
        FileError::Missing => "check the path; `loopwright prd check -` reads standard input",
        FileError::NotRegular => "pipe it in instead: `loopwright prd check - < FILE`",
        FileError::Folder => "only files are read from a folder, and this is a folder itself",
        FileError::Changed | FileError::Busy | FileError::Io { .. } => "check the path and your rights to it",
    };
    let reason = match error {
        FileError::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    Box::new(Diagnostic::not_readable(name, &reason, help))
}
