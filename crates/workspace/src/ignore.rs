//! Asks git which paths the `.gitignore` files of a folder leave out, without letting git see that folder.
//!
//! Git works on a shadow of ours that holds the folders and copies of the rule files and nothing else. An agent could
//! make `.gitignore` a pipe, on which git would wait for ever, or a link to elsewhere; neither gets into the shadow.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::{GitError, failed};
use crate::git::pipe_broke;
use crate::loop_repo::LoopRepo;

/// A file may be called `:(top)`, which is a pattern to git unless something stands before it.
const HERE: &[u8] = b"./";

/// Folders and rules, as far as they have been walked.
#[derive(Debug)]
pub(crate) struct Shadow<'a> {
    repo: &'a LoopRepo,
    top: PathBuf,
}

impl<'a> Shadow<'a> {
    /// Starts in an empty folder of ours.
    pub(crate) fn new(repo: &'a LoopRepo, top: &Path) -> Self {
        Self { repo, top: top.to_owned() }
    }

    fn at(&self, path: &[u8]) -> PathBuf {
        self.top.join(OsStr::from_bytes(path))
    }

    /// A pattern such as `target/` means folders only, so git must find one.
    pub(crate) fn add_folder(&self, path: &[u8]) -> Result<(), GitError> {
        let folder = self.at(path);
        fs::create_dir(&folder).map_err(failed("make", &folder))
    }

    /// Takes over the rules of a folder.
    pub(crate) fn add_rules(&self, path: &[u8], rules: &[u8]) -> Result<(), GitError> {
        let file = self.at(path);
        fs::write(&file, rules).map_err(failed("write", &file))
    }

    /// Which of these paths are ignored, by their own rules or by those of a folder above.
    pub(crate) fn ignored(&self, paths: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let git = self.repo.git().work_tree(&self.top).args(["check-ignore", "--no-index", "-z", "--stdin"]);
        let command = git.command_line();
        let output = git.outcome_fed(|pipe| {
            paths.iter().try_for_each(|path| {
                [HERE, path, b"\0"].iter().try_for_each(|part| pipe.write_all(part)).map_err(pipe_broke)
            })
        })?;
        match output.code {
            // One means that none of them is.
            Some(0 | 1) if !output.cut => Ok(split(&output.stdout)),
            code => Err(GitError::Failed { command, code, stderr: output.stderr }),
        }
    }
}

fn split(output: &[u8]) -> BTreeSet<Vec<u8>> {
    output.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(HERE)).map(<[u8]>::to_vec).collect()
}
