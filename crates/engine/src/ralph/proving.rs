//! What an agent's word is worth: the project's checks, and landing where several work at once.

use std::thread;

use sandbox::RunView;
use tasks::{Lease, Task, TaskError};
use workspace::CommitId;

use super::agent::Run;
use super::describe::red_words;
use super::ending::{Ended, Kept, LOOK, stop};
use super::landing::Landed;
use super::lane::Lane;
use super::plan::Notice;
use crate::fault::Fault;

impl Lane<'_, '_> {
    /// Runs the project's commands; the first that is red decides.
    pub(super) fn verify(&self, lease: &Lease, task: &Task, base: Option<&CommitId>) -> Ended {
        for check in &self.shared.plan.checks {
            let folder = match self.tasks.make_run_folder(lease.number) {
                Ok(folder) => folder,
                Err(error) => {
                    let why = home::words_of(&error);
                    return Ended::Impossible { why };
                }
            };
            let run = Run {
                plan: self.shared.plan,
                tasks: &self.tasks,
                root: &self.root,
                task: &task.id,
                lease,
                folder: &folder,
            };
            let what = format!("checking: {}", check.name);
            self.shared.say(Notice::Doing {
                task: task.id.clone(),
                what,
            });
            match self.keep_check(&run, &check.command) {
                Ok(Kept::Ended(exit)) if exit.exit_code == Some(0) => {}
                Ok(Kept::Ended(exit)) => {
                    let why = red_words(&check.name, &check.command, &exit, &folder);
                    return Ended::Failed { why };
                }
                Ok(Kept::Interrupted) => return Ended::Interrupted,
                Ok(Kept::Lost) => return Ended::Lost,
                Err(fault) => return Ended::Failed { why: fault.words() },
            }
        }
        if let Some(ended) = self.land(task, base) {
            return ended;
        }
        match self.tasks.accept(&task.id, lease.number) {
            Ok(_) => Ended::Complete,
            Err(TaskError::Refused(tasks::Refusal::Lost { .. })) => Ended::Lost,
            Err(error) => Ended::Failed {
                why: home::words_of(&error),
            },
        }
    }

    /// Lands the work of a worker that has a checkout of its own; none if it may be accepted.
    fn land(&self, task: &Task, base: Option<&CommitId>) -> Option<Ended> {
        let (landing, base) = (self.landing?, base?);
        // What it must make is looked at where it was made, before anybody else sees it.
        if let Some(refusal) = tasks::missing_output(&self.root, task) {
            let why = refusal.to_string();
            return Some(Ended::Failed { why });
        }
        match landing.land(&self.root, base, &task.id, &task.title) {
            Ok(Landed::Done) => None,
            Ok(Landed::Clash(paths)) => {
                let names: Vec<String> = paths
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                let why = format!(
                    "others changed {} meanwhile; it is done again on their work",
                    names.join(", ")
                );
                Some(Ended::Clash { why })
            }
            Err(fault) => Some(Ended::Failed { why: fault.words() }),
        }
    }

    fn keep_check(&self, run: &Run<'_>, command: &str) -> Result<Kept, Fault> {
        let mut keeper = run.start_check(command)?;
        let mut is_stopped = false;
        while keeper.try_wait().is_ok_and(|status| status.is_none()) {
            if !is_stopped && self.shared.signal().is_some() {
                is_stopped = true;
                stop(run.folder);
            }
            thread::sleep(LOOK);
        }
        if is_stopped {
            return Ok(Kept::Interrupted);
        }
        match sandbox::look(run.folder).map_err(|error| Fault::keeper(run.folder, error))? {
            RunView::Ended(exit) => Ok(Kept::Ended(Box::new(exit))),
            _ => Err(Fault::transient("keep a check", "its keeper was killed")),
        }
    }
}
