//! Where the runs of claims have their files. Claims are numbered per plan, and the folder is the whole
//! repository's.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use home::Home;
use sandbox::ProcessMark;
use serde_json::Value;

use crate::error::TaskError;
use crate::lease::Lease;
use crate::store::Tasks;

impl Tasks {
    /// Makes a folder for the files of one run of a claim. It is always a new one, whatever is left
    /// there from other plans, older versions or a store that was put back: a run must not fail because
    /// of the name of its folder.
    pub fn make_run_folder(&self, claim: u64) -> Result<PathBuf, TaskError> {
        let runs = self.runs();
        let failed = |path: &Path, source| TaskError::Io {
            attempt: "make",
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(&runs).map_err(|error| failed(&runs, error))?;
        let name = Home::task_runs(&self.place().key, claim);
        let mut number: u32 = 1;
        loop {
            let folder = runs.join(format!("{name}{number}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < u32::MAX => {
                    number += 1;
                }
                Err(error) => return Err(failed(&folder, error)),
            }
        }
    }

    /// The folders of the runs that a process started under its claim. Older versions gave runs of all
    /// plans the same names, so that each is asked which process waits for it.
    pub fn runs_of(&self, lease: &Lease) -> Vec<PathBuf> {
        let names = [
            Home::task_runs(&self.place().key, lease.number),
            format!("{}-", lease.number),
        ];
        let Ok(entries) = fs::read_dir(self.runs()) else {
            return Vec::new();
        };
        let is_named = |folder: &PathBuf| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            names.iter().any(|wanted| name.starts_with(wanted))
        };
        let is_its = |folder: &PathBuf| {
            let process = lease.owner.process.as_ref();
            process.is_some() && process == waits_for(folder).as_ref()
        };
        let folders = entries.flatten().map(|entry| entry.path());
        folders.filter(is_named).filter(is_its).collect()
    }

    /// The folders of all runs of this plan that have no end, and whose process is gone. Who took a claim
    /// over from the dead may have died before it ended what they left.
    pub fn runs_of_the_dead(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        let name = Home::task_runs_of(&self.place().key);
        let is_ours = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(&name);
        let is_left = |folder: &PathBuf| {
            let has_ended = folder.join("exit.json").exists();
            !has_ended && waits_for(folder).is_some_and(|process| !sandbox::is_alive(&process))
        };
        let folders = entries.filter(is_ours).map(|entry| entry.path());
        folders.filter(is_left).collect()
    }

    fn runs(&self) -> PathBuf {
        self.folder().join("runs")
    }
}

/// The process that waits for a run.
fn waits_for(folder: &Path) -> Option<ProcessMark> {
    let text = fs::read(folder.join("spec.json")).ok()?;
    let mut spec: Value = serde_json::from_slice(&text).ok()?;
    serde_json::from_value(spec.get_mut("ends_with")?.take()).ok()
}
