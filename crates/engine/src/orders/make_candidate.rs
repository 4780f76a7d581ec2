//! Turns what the implementor or the prover left, and the writer's tests, into the candidate.

use std::path::{Path, PathBuf};

use home::{Known, Policies, Policy, Settings};
use kernel::{Base, Event, MakeCandidateOrder, Order, PersonsWork, Stage};
use workspace::{CommitId, Overlay, TreeId};

use crate::fault::Fault;
use crate::orders::authored::{Authored, Authoring, NOTES_MAX, kept_files};
use crate::orders::commit_message::commit_words;
use crate::orders::leaks::{Leaks, Search};
use crate::orders::make_accepted::{OntoHead, onto_head};
use crate::ports::{Ports, Repository};
use crate::redaction::known_of;
use crate::run::agent_files::{agent_config, guidance};
use crate::run::check_plan::tests_commit;
use crate::run::files::RunFiles;
use crate::run::shown_tests::shown_tree;
use crate::run::sorted::{Sorted, Suspect};
use crate::run::test_rules::TestRules;
use crate::run::trees::{commit_id, commit_of, reference, with_files_of};
use crate::settings_of::settings_of;

/// How long one note may be.
const NOTE_CHARS_MAX: usize = 4_000;
/// How much of what was left out is told where nothing else is there.
const LEFT_TOLD_MAX: usize = 5;

/// Everything that making a candidate looks at.
struct Making<'a> {
    order: &'a Order,
    make: &'a MakeCandidateOrder,
    settings: &'a Settings,
    repository: &'a dyn Repository,
    base: CommitId,
    base_tree: TreeId,
    known: Known,
}

/// Files that cannot be used are their author's fault, and trying again would find the same ones: the
/// attempt has failed.
pub(crate) fn make_candidate(
    order: &Order,
    make: &MakeCandidateOrder,
    ports: &Ports,
) -> Result<Event, Fault> {
    match make_of(order, make, ports) {
        Err(Fault::BadTree { why }) => Ok(nothing_new(make, &why)),
        event => event,
    }
}

fn make_of(order: &Order, make: &MakeCandidateOrder, ports: &Ports) -> Result<Event, Fault> {
    let settings = settings_of(order)?;
    let repository = ports.repositories.open(&order.loop_id)?;
    let base = commit_id(&make.base)?;
    let making = Making {
        order,
        make,
        settings: &settings,
        repository: &*repository,
        base_tree: repository.tree_of(&base)?,
        base,
        known: known_of(&ports.home, &order.loop_id)?,
    };
    let code = match &make.handed_in {
        Some(work) => making.handed_in(work, ports)?,
        None => making.code(ports)?,
    };
    match code {
        Code::There(authored) => making.candidate(authored),
        Code::Nothing(why) => Ok(nothing_new(make, &why)),
    }
}

/// The author's files.
enum Code {
    There(Authored),
    Nothing(String),
}

impl Making<'_> {
    /// The files of the implementor, or of the prover after it.
    fn code(&self, ports: &Ports) -> Result<Code, Fault> {
        let run = &self.make.place.run;
        let kind = match run.stage {
            Stage::Prove => "proven",
            _ => "code",
        };
        let files = RunFiles::of(&ports.home, &self.order.loop_id, &self.make.place);
        let authoring = Authoring {
            repository: self.repository,
            settings: self.settings,
            base: &self.make.base,
            planned_at_ms: self.make.planned_at_ms,
        };
        let name = reference(kind, &run.story, &run.attempt.to_string());
        let subject = format!("{kind}: {}\n", run.story);
        let kept = authoring.keep(&name, &files, &subject);
        let kept = kept.inspect_err(|fault| self.discard_bad(fault, &files, ports));
        let Some(authored) = kept? else {
            let why = "the attempt left no checkout behind".to_owned();
            return Ok(Code::Nothing(why));
        };
        if !self.settings.keep_checkouts {
            files.discard_checkout(ports, &self.order.loop_id);
        }
        if run.stage == Stage::Implement && authored.tree == self.started_from()? {
            return Ok(Code::Nothing(nothing_left(&authored.notes)));
        }
        Ok(Code::There(authored))
    }

    /// What cannot be read as a tree may be very large, and nobody needs it.
    fn discard_bad(&self, fault: &Fault, files: &RunFiles, ports: &Ports) {
        if matches!(fault, Fault::BadTree { .. }) && !self.settings.keep_checkouts {
            files.discard_checkout(ports, &self.order.loop_id);
        }
    }

    /// What a person made, on top of what landed since they began.
    fn handed_in(&self, work: &PersonsWork, ports: &Ports) -> Result<Code, Fault> {
        let repository = self.repository;
        let commit = commit_id(&work.commit)?;
        let project = Path::new(&self.order.project);
        ports
            .repositories
            .create(&self.order.loop_id, project, &commit)?;
        let tree = match onto_head(repository, &commit, &self.base)? {
            OntoHead::Files(tree) => tree,
            OntoHead::Conflict(why) => return Ok(Code::Nothing(why)),
        };
        let kept = kept_files(self.settings);
        let is_kept = |path: &PathBuf| kept.iter().any(|kept| path.starts_with(kept));
        let changes = repository.tree_changes(&self.base_tree, &tree)?.into_iter();
        let paths: Vec<PathBuf> = changes.map(|change| change.path).filter(is_kept).collect();
        let tree = with_files_of(repository, &self.base_tree, &tree, &paths)?;
        if tree == self.base_tree {
            return Ok(Code::Nothing(format!(
                "{} changes nothing on the branch",
                work.commit
            )));
        }
        let notes = vec![format!("a person did the work: {}", work.by)];
        Ok(Code::There(Authored { tree, notes }))
    }

    /// The tree that the implementor began with.
    fn started_from(&self) -> Result<TreeId, Fault> {
        match self.make.flow.row(Stage::Implement).base {
            Base::StoryWithTests => self.shown_tests(),
            Base::Story | Base::Candidate => Ok(self.base_tree.clone()),
        }
    }

    /// The tests that the implementor was shown.
    fn shown_tests(&self) -> Result<TreeId, Fault> {
        let shown = match &self.make.tests {
            Some(tests) => shown_tree(self.repository, tests)?,
            None => None,
        };
        Ok(shown.unwrap_or_else(|| self.base_tree.clone()))
    }

    /// The tree of the tests that stand for the story; the base's where there are none.
    fn tests_tree(&self) -> Result<TreeId, Fault> {
        match tests_commit(self.make.tests.as_ref()) {
            Some(commit) => self.repository.tree_of(&commit_id(commit)?),
            None => Ok(self.base_tree.clone()),
        }
    }

    fn candidate(&self, authored: Authored) -> Result<Event, Fault> {
        let repository = self.repository;
        let rules = TestRules::of(repository, self.settings, &self.base_tree)?;
        let code = self.without_shown_tests(authored.tree)?;
        let tests = self.tests_tree()?;
        let is_test = |path: &std::path::Path| rules.is_test(path);
        let overlay = repository.overlay(&self.base_tree, &code, &tests, &is_test)?;
        let at_secs = self.make.planned_at_ms / 1000;
        let words = commit_words(&self.order.loop_id, self.make, self.settings)?;
        let (author, message) = (&words.author, &words.message);
        let commit = repository.commit_by(author, &overlay.tree, &self.base, message, at_secs)?;
        if self.is_rejected_again(&overlay.tree)? {
            let why = "the attempt made the same files as one that was rejected";
            return Ok(nothing_new(self.make, why));
        }
        let story = &self.make.story.id;
        let name = reference("candidates", story, &self.candidate_name());
        repository.move_ref(&name, None, &commit)?;
        let leaks = self.leaks(&overlay.tree, message)?;
        if let Some(why) = leaks.why() {
            return Ok(Event::CandidateRefused {
                story: story.clone(),
                attempt: self.make.place.run.attempt,
                commit: commit_of(&commit)?,
                why,
            });
        }
        let sorted = Sorted::of(
            repository,
            self.settings,
            &self.base_tree,
            &overlay.tree,
            &overlay.written(),
        )?;
        let agents = agent_config(repository, &self.base_tree, &overlay.tree)?;
        let mut notes = self.notes(&agents, &overlay)?;
        notes.extend(authored.notes);
        notes.extend(leaks.unread.iter().map(|path| not_looked_through(path)));
        Ok(Event::CandidateMade {
            story: story.clone(),
            attempt: self.make.place.run.attempt,
            commit: commit_of(&commit)?,
            notes,
            ask: reason_to_ask(self.settings.policy, &sorted.suspects(), &agents),
        })
    }

    /// The secrets in a tree that would land, and in its commit's message.
    fn leaks(&self, tree: &TreeId, message: &str) -> Result<Leaks, Fault> {
        let search = Search {
            repository: self.repository,
            settings: self.settings,
            known: &self.known,
            base: &self.base_tree,
            at_secs: self.make.planned_at_ms / 1000,
        };
        let mut leaks = search.in_tree(tree)?;
        leaks.places.extend(search.in_message(message));
        Ok(leaks)
    }

    /// An implementor's files without tests that it was shown and left alone: they are their
    /// writer's, and where they were written anew the old ones are gone.
    fn without_shown_tests(&self, code: TreeId) -> Result<TreeId, Fault> {
        if self.make.flow.row(Stage::Implement).base != Base::StoryWithTests {
            return Ok(code);
        }
        let repository = self.repository;
        let mut shown = Vec::new();
        let rounds = self.make.tests.as_ref().map_or(0, |tests| tests.round);
        for round in 1..=rounds {
            let name = reference("tests", &self.make.story.id, &round.to_string());
            if let Some(commit) = repository.read_ref(&name)? {
                let base = repository.tree_of(&repository.parent_of(&commit)?)?;
                let tests = repository.tree_of(&commit)?;
                shown.extend(repository.tree_changes(&base, &tests)?);
            }
        }
        shown.extend(repository.tree_changes(&self.base_tree, &self.shown_tests()?)?);
        let changes = repository.tree_changes(&self.base_tree, &code)?;
        let untouched = changes.into_iter().filter(|change| shown.contains(change));
        let paths: Vec<PathBuf> = untouched.map(|change| change.path).collect();
        with_files_of(repository, &self.base_tree, &code, &paths)
    }

    /// Says whether an attempt made the same files as one that was rejected.
    fn is_rejected_again(&self, tree: &TreeId) -> Result<bool, Fault> {
        for rejected in &self.make.rejected {
            if self.repository.tree_of(&commit_id(rejected)?)? == *tree {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The name of the attempt's candidate; a second one of the same attempt has another.
    fn candidate_name(&self) -> String {
        let number = self.make.place.run.attempt;
        let round = self.make.tests.as_ref().map_or(1, |tests| tests.round);
        match (self.make.place.run.stage, round) {
            (Stage::Prove, _) => format!("{number}-proven"),
            (_, 0 | 1) => number.to_string(),
            (_, round) => format!("{number}-tests-{round}"),
        }
    }

    /// What a judge must know of how the candidate was made.
    fn notes(&self, agents: &[String], overlay: &Overlay) -> Result<Vec<String>, Fault> {
        let mut notes: Vec<String> = agents.iter().map(|path| configures_agents(path)).collect();
        notes.extend(guidance(self.repository, &self.base_tree, &overlay.tree)?);
        for path in &overlay.implementor_tests {
            let path = path.display();
            notes.push(format!(
                "the implementor changed the existing test file `{path}`"
            ));
        }
        for path in &overlay.overridden {
            let path = path.display();
            notes.push(format!(
                "the implementor's `{path}` gave way to the test writer's"
            ));
        }
        for conflict in &overlay.conflicts {
            let (path, hunk) = (conflict.path.display(), &conflict.implementor_hunk);
            notes.push(format!(
                "both changed `{path}`; the test writer's is used, and the implementor's change \
                 was:\n{hunk}"
            ));
        }
        notes.truncate(NOTES_MAX);
        let bounded = |note: String| note.chars().take(NOTE_CHARS_MAX).collect();
        Ok(notes.into_iter().map(bounded).collect())
    }
}

/// Why nothing is there to judge. Work that was left out is no lack of work, and whoever tries again
/// must learn the reason.
fn nothing_left(notes: &[String]) -> String {
    let told: Vec<&str> = notes
        .iter()
        .take(LEFT_TOLD_MAX)
        .map(String::as_str)
        .collect();
    let why = match told.as_slice() {
        [] => "the attempt changed nothing".to_owned(),
        told => format!(
            "the attempt changed nothing that is kept: {}",
            told.join("; ")
        ),
    };
    why.chars().take(NOTE_CHARS_MAX).collect()
}

fn nothing_new(make: &MakeCandidateOrder, why: &str) -> Event {
    Event::NothingNew {
        story: make.story.id.clone(),
        attempt: make.place.run.attempt,
        why: why.to_owned(),
    }
}

/// Why a person must agree before a candidate lands, where policy says so.
pub(crate) fn reason_to_ask(
    policy: Policies,
    suspects: &[Suspect],
    agents: &[String],
) -> Option<String> {
    let mut why: Vec<String> = match policy.check_config {
        Policy::Ask => suspects
            .iter()
            .filter(|suspect| !agents.contains(&suspect.path))
            .map(|suspect| format!("it changes `{}`: {}", suspect.path, suspect.why.words()))
            .collect(),
        Policy::Flag => Vec::new(),
    };
    if policy.agent_config == Policy::Ask {
        why.extend(agents.iter().map(|path| configures_agents(path)));
    }
    if why.is_empty() {
        return None;
    }
    Some(format!("shall this candidate land? {}", why.join("; ")))
}

fn not_looked_through(path: &str) -> String {
    format!("`{path}` is too large to be looked through for secrets")
}

fn configures_agents(path: &str) -> String {
    format!("it changes `{path}`, which configures agents")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_no_lack_of_work() {
        assert_eq!(nothing_left(&[]), "the attempt changed nothing");
        let notes: Vec<String> = (1..=LEFT_TOLD_MAX + 1)
            .map(|number| format!("`{number}` was left out: too large"))
            .collect();
        assert_eq!(
            nothing_left(&notes[..2]),
            "the attempt changed nothing that is kept: `1` was left out: too large; `2` was left out: too large"
        );
        let all = nothing_left(&notes);
        assert!(all.contains("`5`") && !all.contains("`6`"), "{all}");
    }
}
