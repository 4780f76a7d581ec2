//! Where the work of several agents comes together: each has a checkout of its own, and what is
//! finished lands on one branch, one task after the other, by the rules of the landing lane.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use home::now_ms;
use workspace::{CommitId, LoopRepo, Published, Restacked, ref_component};

use super::plan::RalphPlan;
use crate::fault::Fault;

/// How many commits an agent can look back.
const HISTORY: u32 = 100;

/// The branch of one task.
fn of_task(task: &str) -> String {
    format!("ralph/{}", ref_component(task))
}

/// The branch that everything lands on.
pub(super) struct Landing {
    repo: LoopRepo,
    root: PathBuf,
    branch: String,
    /// Files that only the store writes, such as the plan: an agent's change to them is dropped.
    kept: Vec<PathBuf>,
    state: Mutex<State>,
}

struct State {
    head: CommitId,
    published: Option<CommitId>,
}

/// What came of landing a task's work.
pub(super) enum Landed {
    Done,
    /// Others changed the same places meanwhile.
    Clash(Vec<PathBuf>),
}

impl Landing {
    /// Makes a repository of our own with what is checked out.
    pub(super) fn open(plan: &RalphPlan, folder: &Path) -> Result<Self, Fault> {
        let root = &plan.place.root;
        let git = |error| Fault::git(root, error);
        let head = workspace::look_at_project(root, None).map_err(git)?.head;
        let repo = LoopRepo::create(root, &folder.join("repo.git"), &head).map_err(git)?;
        let kept = plan.place.graph.strip_prefix(root).map(Path::to_owned);
        Ok(Self {
            repo,
            root: root.clone(),
            branch: format!("ralph/{}", plan.id),
            kept: kept.into_iter().collect(),
            state: Mutex::new(State {
                head,
                published: None,
            }),
        })
    }

    /// The branch, if anything has landed on it.
    pub(super) fn branch(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.published.as_ref().map(|_| self.branch.clone())
    }

    /// Makes a fresh checkout of what has landed so far, on the task's branch in a repository of the
    /// agent's own, and says which commit that is.
    pub(super) fn checkout(&self, folder: &Path, task: &str) -> Result<CommitId, Fault> {
        let head = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.head.clone()
        };
        let git = |error| Fault::git(folder, error);
        home::remove_folder(folder).map_err(|error| Fault::io("remove", folder, error))?;
        self.repo.checkout(&head, folder).map_err(git)?;
        self.repo
            .make_task_repo(&head, &of_task(task), HISTORY, folder)
            .map_err(git)?;
        Ok(head)
    }

    /// Whether an agent changed anything. Only files are looked at: its git could run something.
    pub(super) fn has_changed(&self, folder: &Path, base: &CommitId) -> bool {
        let taken = self.repo.snapshot(folder, base, &self.kept);
        taken.is_ok_and(|taken| taken.changed)
    }

    /// Puts the work of a checkout onto what has landed, and shows it to the person as the branch of
    /// its task and as the branch of all.
    pub(super) fn land(
        &self,
        folder: &Path,
        base: &CommitId,
        task: &str,
        title: &str,
    ) -> Result<Landed, Fault> {
        let git = |error| Fault::git(folder, error);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.repo.snapshot(folder, base, &self.kept).map_err(git)?;
        let message = format!("feat: [{task}] {}\n", home::one_line(title));
        let at_secs = now_ms() / 1000;
        let commit = |tree, parent: &CommitId| {
            let made = self.repo.commit(tree, parent, &message, at_secs);
            made.map_err(git)
        };
        let work = commit(&taken.tree, base)?;
        let tree = match self.repo.restack(base, &work, &state.head).map_err(git)? {
            Restacked::Clean { tree, .. } => tree,
            Restacked::Conflict(paths) => return Ok(Landed::Clash(paths)),
        };
        let landed = commit(&tree, &state.head)?;
        let of_task = of_task(task);
        let before = workspace::read_branch(&self.root, &of_task).map_err(git)?;
        self.publish(&of_task, before.as_ref(), &landed)?;
        self.publish(&self.branch, state.published.as_ref(), &landed)?;
        state.published = Some(landed.clone());
        state.head = landed;
        Ok(Landed::Done)
    }

    fn publish(&self, branch: &str, from: Option<&CommitId>, to: &CommitId) -> Result<(), Fault> {
        let published = self.repo.publish(&self.root, branch, from, to);
        match published.map_err(|error| Fault::git(&self.root, error))? {
            Published::Done | Published::AlreadyThere => Ok(()),
            Published::MovedBySomebody { .. } | Published::CheckedOut { .. } => {
                Err(Fault::NeedsPerson {
                    what: format!("the branch {branch} is checked out, or somebody moved it"),
                    remedy: "leave it to ralph, or remove it".to_owned(),
                })
            }
        }
    }
}
