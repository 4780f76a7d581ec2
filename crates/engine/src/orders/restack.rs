//! Puts a story's tests or its candidate onto the head of the branch, which has moved since they were
//! made. What does not fit is refused with the files that stand in the way.

use std::path::PathBuf;

use kernel::{Event, Order, RestackClass, RestackOrder, Restackable};
use workspace::{CommitId, Overlap, Restacked, Signature, TreeId};

use crate::fault::Fault;
use crate::orders::make_accepted::author_of;
use crate::orders::make_candidate::reason_to_ask;
use crate::ports::{Ports, Repository};
use crate::run::agent_files::agent_config;
use crate::run::check_plan::tests_commit;
use crate::run::sorted::Sorted;
use crate::run::trees::{commit_id, commit_of, reference};
use crate::settings_of::settings_of;

/// The trailer that names the commit that was judged.
const RESTACKED_FROM: &str = "Restacked-From: ";

/// Files in the way that are named.
const PATHS_MAX: usize = 20;

pub(crate) fn restack(order: &Order, owed: &RestackOrder, ports: &Ports) -> Result<Event, Fault> {
    let repository = ports.repositories.open(&order.loop_id)?;
    let (from, onto) = (commit_id(&owed.from)?, commit_id(&owed.onto)?);
    let base = repository.parent_of(&from)?;
    let (tree, overlap) = match repository.restack(&base, &from, &onto)? {
        Restacked::Clean { tree, overlap } => (tree, overlap),
        Restacked::Conflict(paths) => return Ok(refused(owed, &paths)),
    };
    let restacking = Restacking {
        order,
        owed,
        repository: &*repository,
        onto,
    };
    let commit = restacking.commit(&from, &tree)?;
    Ok(Event::Restacked {
        story: owed.story.clone(),
        attempt: owed.attempt,
        round: owed.round,
        what: owed.what,
        from: owed.from.clone(),
        onto: owed.onto.clone(),
        commit: commit_of(&commit)?,
        class: match overlap {
            Overlap::Disjoint => RestackClass::Disjoint,
            Overlap::Mixed => RestackClass::Mixed,
        },
        notes: owed.notes.clone(),
        ask: restacking.ask(&tree)?,
    })
}

fn refused(owed: &RestackOrder, paths: &[PathBuf]) -> Event {
    let paths = paths.iter().take(PATHS_MAX);
    let paths = paths.map(|path| path.to_string_lossy().into_owned());
    Event::RestackRefused {
        story: owed.story.clone(),
        attempt: owed.attempt,
        round: owed.round,
        what: owed.what,
        from: owed.from.clone(),
        onto: owed.onto.clone(),
        paths: paths.collect(),
    }
}

struct Restacking<'a> {
    order: &'a Order,
    owed: &'a RestackOrder,
    repository: &'a dyn Repository,
    onto: CommitId,
}

impl Restacking<'_> {
    /// Makes the commit, with a ref that never moves. The same order makes the same commit.
    fn commit(&self, from: &CommitId, tree: &TreeId) -> Result<CommitId, Fault> {
        let owed = self.owed;
        let message = self.repository.message_of(from)?;
        let (author, message, name) = match owed.what {
            Restackable::Tests => {
                let name = reference("tests", &owed.story, &owed.round.to_string());
                (Signature::ours(), message, name)
            }
            Restackable::Candidate => {
                let name = format!("{}-on-{}", owed.attempt, owed.round);
                let name = reference("candidates", &owed.story, &name);
                let message = format!("{}\n{RESTACKED_FROM}{from}\n", message.trim_end());
                (author_of(&settings_of(self.order)?), message, name)
            }
        };
        let at_secs = owed.planned_at_ms / 1000;
        let commit = self
            .repository
            .commit_by(&author, tree, &self.onto, &message, at_secs)?;
        self.repository.move_ref(&name, None, &commit)?;
        Ok(commit)
    }

    /// Why a person must agree before it lands, where policy says so.
    fn ask(&self, tree: &TreeId) -> Result<Option<String>, Fault> {
        if self.owed.is_accepted || self.owed.what == Restackable::Tests {
            return Ok(None);
        }
        let settings = settings_of(self.order)?;
        let base = self.repository.tree_of(&self.onto)?;
        let written = self.written()?;
        let sorted = Sorted::of(self.repository, &settings, &base, tree, &written)?;
        let agents = agent_config(self.repository, &base, tree)?;
        Ok(reason_to_ask(settings.policy, &sorted.suspects(), &agents))
    }

    /// The files of the story's tests.
    fn written(&self) -> Result<Vec<PathBuf>, Fault> {
        let Some(commit) = tests_commit(self.owed.tests.as_ref()) else {
            return Ok(Vec::new());
        };
        let commit = commit_id(commit)?;
        let base = self.repository.parent_of(&commit)?;
        let (base, tests) = (
            self.repository.tree_of(&base)?,
            self.repository.tree_of(&commit)?,
        );
        let changes = self.repository.tree_changes(&base, &tests)?.into_iter();
        Ok(changes.map(|change| change.path).collect())
    }
}
