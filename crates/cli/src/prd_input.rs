//! Brings a PRD's bytes from the disk or standard input to the reader.
//!
//! What cannot be read becomes diagnostic PRD001, so that a wrong path looks like every other
//! complaint.

use std::io::Read as _;
use std::path::Path;

use home::PrdFile;
use prd::limits::FILE_BYTES_MAX;
use prd::{Diagnostic, Input, Options, Reading};
use workspace::operator_file::Snapshot;

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
    let mut tools = source.tools.clone();
    tools.extend(agents_beside(&source.file));
    let options = Options {
        tools,
        ..Options::default()
    };
    if source.file.as_os_str() == "-" {
        let bytes = read_stdin()?;
        let reading = prd::read(
            Input::File {
                name: "<stdin>".to_owned(),
                bytes,
            },
            &options,
        );
        return Ok(PrdInput {
            reading,
            options,
            snapshots: Vec::new(),
            kind: Kind::Stdin,
        });
    }
    let PrdFile {
        reading,
        snapshots,
        is_folder,
    } = home::read_prd(&source.file, &options)?;
    Ok(PrdInput {
        reading,
        options,
        snapshots,
        kind: if is_folder { Kind::Folder } else { Kind::File },
    })
}

/// The agents that are configured where the PRD is: `start` would know them too. A configuration that
/// cannot be read names nobody, and `start` says so.
fn agents_beside(file: &Path) -> Vec<String> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let config = crate::config::read(folder.unwrap_or(Path::new(".")), &[]);
    config.map_or_else(|_| Vec::new(), |config| config.agents.into_keys().collect())
}

fn read_stdin() -> Result<Vec<u8>, Box<Diagnostic>> {
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    match std::io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Box::new(Diagnostic::not_readable(
            "-",
            &home::words_of(&error),
            "pipe the PRD into the command",
        ))),
    }
}
