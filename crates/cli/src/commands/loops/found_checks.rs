//! The checks of a project: those that its configuration names, else those that its files show.

use std::path::{Path, PathBuf};

use checks::Tree;
use checks::detect::propose;
use home::CheckSettings;

use crate::config::ChecksConfig;

/// Bytes of a file that are read to find out what a project is.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The commands, and a remark for each that nobody named.
pub(crate) fn find(
    config: &ChecksConfig,
    project: &Path,
    remarks: &mut Vec<String>,
) -> Vec<CheckSettings> {
    let one = |name: &str, command: &str| CheckSettings {
        name: name.to_owned(),
        command: command.to_owned(),
    };
    let named: Vec<CheckSettings> = config
        .commands()
        .into_iter()
        .map(|(name, command)| one(name, command))
        .collect();
    if !named.is_empty() || config.detect == Some(false) {
        return named;
    }
    let proposal = propose(&Folder {
        root: project.to_owned(),
    });
    let found = [
        ("setup", proposal.setup),
        ("typecheck", proposal.typecheck),
        ("lint", proposal.lint),
        ("test", proposal.test),
    ];
    let mut checks = Vec::new();
    for (name, proposed) in found {
        if let Some(proposed) = proposed {
            remarks.push(format!(
                "found {name}: `{}` ({})",
                proposed.command, proposed.why
            ));
            checks.push(one(name, &proposed.command));
        }
    }
    checks
}

/// A folder on disk as the checks see a project.
pub(crate) struct Folder {
    /// Where it is.
    pub(crate) root: PathBuf,
}

impl Tree for Folder {
    fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let is_small = std::fs::metadata(&path).ok()?.len() <= FILE_BYTES_MAX;
        is_small
            .then(|| std::fs::read_to_string(path).ok())
            .flatten()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(folder))
            .into_iter()
            .flatten()
            .flatten();
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.file_type().ok()?.is_dir();
            Some(if is_folder { format!("{name}/") } else { name })
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }
}
