//! The checks of a project: those that its configuration names, then those that its PRD names, then
//! those that the files of its base show.

use std::path::{Path, PathBuf};

use checks::Tree;
use checks::detect::propose_on;
use home::CheckSettings;
use workspace::{CommitId, Listed, TreeReader, read_commit};

use super::prd_checks::{is_known_kind, place_of};
use crate::config::ChecksConfig;
use crate::failure::Failure;

/// Bytes of a file that are read to find out what a project is.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// The commands, and a remark for each that nobody named. `machine` says which programs there are.
///
/// They are found in the commit that the loop starts from, since its checkouts have nothing else: a
/// lock file that git ignores is on the operator's disk and nowhere in a checkout.
pub(crate) fn find(
    config: &ChecksConfig,
    told: &[(String, String)],
    base: &Base<'_>,
    machine: &dyn Fn(&str) -> bool,
    remarks: &mut Vec<String>,
) -> Result<Vec<CheckSettings>, Failure> {
    let mut checks: Vec<CheckSettings> = config
        .commands()
        .into_iter()
        .map(|(name, command)| check(name, command))
        .collect();
    let is_looked_for = checks.is_empty() && config.detect != Some(false);
    for (name, command) in told {
        match checks.iter().find(|known| known.name == *name) {
            Some(own) if own.command == *command => {}
            Some(own) => remarks.push(format!(
                "the PRD's {name} `{command}` is not run, since [checks] says `{}`",
                own.command
            )),
            None => {
                let how = if is_known_kind(name) {
                    ""
                } else {
                    "; it passes or fails as a whole, call it `test` if it runs tests"
                };
                remarks.push(format!("{name}: `{command}` (from the PRD){how}"));
                checks.push(check(name, command));
            }
        }
    }
    if is_looked_for {
        let found = found_beside(&checks, &base.open()?, machine, remarks);
        checks.extend(found);
    }
    checks.sort_by_key(|check| place_of(&check.name));
    Ok(checks)
}

/// Where a loop starts from.
pub(crate) struct Base<'a> {
    /// A folder of the repository that has the commit.
    pub(crate) repository: &'a Path,
    /// The commit.
    pub(crate) commit: &'a CommitId,
    /// The project's folder, from the top of the tree.
    pub(crate) subdir: &'a Path,
}

impl Base<'_> {
    fn open(&self) -> Result<BaseTree, Failure> {
        let reader = read_commit(self.repository, self.commit)
            .map_err(|error| Failure::environment("cannot read the files of the base", &error))?;
        Ok(BaseTree {
            reader,
            subdir: self.subdir.to_owned(),
        })
    }
}

fn check(name: &str, command: &str) -> CheckSettings {
    CheckSettings {
        name: name.to_owned(),
        command: command.to_owned(),
    }
}

/// The checks that files show, and a remark for each.
pub(crate) fn found_in(
    tree: &dyn Tree,
    machine: &dyn Fn(&str) -> bool,
    remarks: &mut Vec<String>,
) -> Vec<CheckSettings> {
    found_beside(&[], tree, machine, remarks)
}

/// The checks that files show beside those that are known already.
fn found_beside(
    known: &[CheckSettings],
    tree: &dyn Tree,
    machine: &dyn Fn(&str) -> bool,
    remarks: &mut Vec<String>,
) -> Vec<CheckSettings> {
    let proposal = propose_on(tree, machine);
    let found = [
        ("setup", proposal.setup),
        ("typecheck", proposal.typecheck),
        ("lint", proposal.lint),
        ("test", proposal.test),
    ];
    let mut checks = Vec::new();
    for (name, proposed) in found {
        let is_known = known.iter().any(|check| check.name == name);
        if let Some(proposed) = proposed.filter(|_| !is_known) {
            remarks.push(format!(
                "found {name}: `{}` ({})",
                proposed.command, proposed.why
            ));
            checks.push(check(name, &proposed.command));
        }
    }
    remarks.extend(proposal.notes);
    let mut all = known.iter().chain(&checks);
    if !all.any(|check| check.name == "test") {
        remarks
            .push("no tests were found; without a test command nothing can be proven".to_owned());
    }
    checks
}

/// The project's folder as a commit has it.
struct BaseTree {
    reader: TreeReader,
    subdir: PathBuf,
}

impl Tree for BaseTree {
    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.reader.read(&self.subdir.join(path), FILE_BYTES_MAX);
        String::from_utf8(bytes.ok()??).ok()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let listed = self.reader.list(&self.subdir.join(folder));
        let name = |(name, listed): (std::ffi::OsString, Listed)| {
            let name = name.into_string().ok()?;
            Some(match listed {
                Listed::Folder => format!("{name}/"),
                Listed::Entry(_) => name,
            })
        };
        listed.into_iter().flatten().filter_map(name).collect()
    }
}

/// A folder on disk as the checks see a project, for one that has no commit yet.
pub(crate) struct Folder {
    /// Where it is.
    pub(crate) root: PathBuf,
}

impl Tree for Folder {
    fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let is_small = std::fs::metadata(&path).ok()?.len() <= FILE_BYTES_MAX as u64;
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
