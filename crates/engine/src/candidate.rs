//! Turns what agents left into commits: the implementor's code, and the candidate made of it and
//! the writer's tests.
//!
//! Every function here may be run twice and finds what its earlier self has done: each commit has a
//! ref of its own.

use std::path::{Path, PathBuf};

use kernel::{Attempt, Commit, Event, RunKey, Stage, State, StoryProgress};
use workspace::{CommitId, LoopRepo, Overlay, Reason, Snapshot, TreeId};

use crate::hands::kind_of;
use crate::protect::{agent_config, guidance, protect};
use crate::rules::TestRules;
use crate::settings::{Policy, Settings};
use crate::worker::Worker;

/// What carrying out an effect gives: an event, or why there is none yet.
pub(crate) type Landed = Result<Option<Event>, String>;

/// Notes on a candidate that are kept, and how long one may be.
pub(crate) const NOTES_MAX: usize = 40;
const NOTE_BYTES_MAX: usize = 4_000;

impl Worker {
    /// Turns what the writers left into the candidate.
    pub(crate) fn make_candidate(&self, loop_id: &str, id: &str, attempt: u32) -> Landed {
        let making = self.making(loop_id)?;
        let (story, active) = making.state.active().ok_or("no story is being worked on")?;
        let (code, left_out) = match self.code(&making, loop_id, active, id, attempt)? {
            Code::There(Left { tree, notes }) => (tree, notes),
            Code::Nothing(why) => return Ok(Some(nothing_new(id, attempt, why))),
        };
        let (base, base_tree) = making.base_of(active)?;
        let rules = TestRules::of(&making.repository, &making.settings, &base_tree)?;
        let code = making.without_shown_tests(story, active, &base_tree, code)?;
        let tests = tests_tree(&making.repository, story)?.unwrap_or_else(|| base_tree.clone());
        let overlay = making.over(&base_tree, &code, &tests, &rules)?;
        let message = message(making.state, story, active);
        let commit = making
            .repository
            .commit(&overlay.tree, &base, &message, active.planned_at_ms / 1000)
            .map_err(words)?;
        if is_rejected_again(&making.repository, story, &commit)? {
            let why = "the attempt made the same files as one that was rejected";
            return Ok(Some(nothing_new(id, attempt, why)));
        }
        let name = reference("candidates", id, &candidate_name(story, active));
        making
            .repository
            .move_ref(&name, None, &commit)
            .map_err(words)?;
        let (mut notes, ask) =
            making.notes(&base_tree, &tests, &overlay, active.flow.has(Stage::Judge))?;
        notes.extend(left_out);
        let commit = Commit::new(commit.as_str()).map_err(words)?;
        Ok(Some(Event::CandidateMade {
            story: id.to_owned(),
            attempt,
            commit,
            notes,
            ask,
        }))
    }

    pub(crate) fn making(&self, loop_id: &str) -> Result<Making<'_>, String> {
        let state = &self.loaded(loop_id).ok_or("the loop is not loaded")?.state;
        Ok(Making {
            state,
            settings: self.settings(loop_id)?,
            repository: self.repository(loop_id)?,
        })
    }

    /// The files of the implementor, or of the prover after it, as a tree.
    fn code(
        &self,
        making: &Making<'_>,
        loop_id: &str,
        active: &Attempt,
        id: &str,
        attempt: u32,
    ) -> Result<Code, String> {
        let proven = active.tries.contains_key(&Stage::Prove);
        let (stage, kind) = if proven {
            (Stage::Prove, "proven")
        } else {
            (Stage::Implement, "code")
        };
        let name = reference(kind, id, &attempt.to_string());
        let checkout = self.last_checkout(loop_id, making.state, id, attempt, stage)?;
        let Some(left) =
            making.left_behind(active, &name, &checkout, &format!("{kind}: {id}\n"))?
        else {
            return Ok(Code::Nothing("the attempt left no checkout behind"));
        };
        self.retire(loop_id, &checkout);
        let (_, base_tree) = making.base_of(active)?;
        if stage == Stage::Implement
            && left.tree == making.started_from(active, stage, &base_tree)?
        {
            return Ok(Code::Nothing("the attempt changed nothing"));
        }
        Ok(Code::There(left))
    }

    /// The checkout of the last try of a stage.
    pub(crate) fn last_checkout(
        &self,
        loop_id: &str,
        loop_state: &State,
        story: &str,
        attempt: u32,
        stage: Stage,
    ) -> Result<PathBuf, String> {
        let loaded = self.loaded(loop_id).ok_or("the loop is not loaded")?;
        let of_stage =
            |run: &&RunKey| run.story == story && run.attempt == attempt && run.stage == stage;
        let started = loaded
            .records
            .iter()
            .rev()
            .filter_map(|record| match &record.event {
                Event::RunStarted { run } => Some(run),
                _ => None,
            });
        let run = started
            .into_iter()
            .find(of_stage)
            .ok_or("the attempt had no such run")?;
        Ok(self.checkout_of(loop_id, loop_state, run))
    }
}

/// The implementor's files.
enum Code {
    There(Left),
    Nothing(&'static str),
}

/// What an agent left: its files, and what of its work is not among them.
pub(crate) struct Left {
    pub(crate) tree: TreeId,
    pub(crate) notes: Vec<String>,
}

impl Left {
    /// Its commit says what was left out, so that whoever finds it later says the same.
    fn of(repository: &LoopRepo, commit: &CommitId) -> Result<Self, String> {
        let tree = repository.tree_of(commit).map_err(words)?;
        let message = repository.message_of(commit).map_err(words)?;
        let notes = message
            .lines()
            .skip(2)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        Ok(Self { tree, notes })
    }
}

/// The message of a commit that keeps what an agent left: what of its work is not in it, and why.
fn message_of_left(subject: &str, left: &Snapshot) -> String {
    let why = |reason: Reason| match reason {
        Reason::Special => "a pipe, a socket or a device",
        Reason::TooLarge => "too large",
        Reason::ReservedName => "a name of git's own",
        Reason::InSubmodule => "in a submodule",
        Reason::Unreadable => "it cannot be read",
        Reason::InTheWay => "in the way of a file that is kept",
        Reason::IgnoredByBase => "the base ignores it",
        Reason::BuildFolder => "such folders are filled by tools",
    };
    let one_line = |path: &Path| path.to_string_lossy().replace(['\n', '\r'], " ");
    let left_out = left.left_out.iter().take(NOTES_MAX);
    let left_out = left_out.map(|left| {
        format!(
            "`{}` was left out: {}",
            one_line(&left.path),
            why(left.reason)
        )
    });
    let ignored = left.newly_ignored.iter().take(NOTES_MAX);
    let ignored = ignored.map(|path| format!("its own new rules ignore `{}`", one_line(path)));
    let notes: Vec<String> = left_out.chain(ignored).collect();
    format!(
        "{}\n\n{}\n",
        subject.trim_end().replace('\n', " "),
        notes.join("\n")
    )
}

/// What all of this needs.
pub(crate) struct Making<'a> {
    pub(crate) state: &'a State,
    pub(crate) settings: Settings,
    pub(crate) repository: LoopRepo,
}

impl Making<'_> {
    pub(crate) fn base_of(&self, active: &Attempt) -> Result<(CommitId, TreeId), String> {
        let base = commit_id(&active.base)?;
        let tree = self.repository.tree_of(&base).map_err(words)?;
        Ok((base, tree))
    }

    /// Neither the PRD nor what we copied in ourselves is an agent's to change or to publish.
    fn kept(&self) -> Vec<PathBuf> {
        let copied = self
            .settings
            .copy
            .iter()
            .map(|name| Path::new(&self.settings.subdir).join(name));
        let folders = self
            .settings
            .agents
            .values()
            .flat_map(|agent| kind_of(agent).facts().executes);
        let hidden = folders.map(|folder| PathBuf::from(*folder));
        self.settings
            .prd_in_repository
            .iter()
            .map(PathBuf::from)
            .chain(copied)
            .chain(hidden)
            .collect()
    }

    /// The files that an agent left, as a tree. They are kept under a ref of their own before
    /// anything is made of them: an earlier self may have got this far, and its checkout may be
    /// gone.
    pub(crate) fn left_behind(
        &self,
        active: &Attempt,
        name: &str,
        checkout: &Path,
        subject: &str,
    ) -> Result<Option<Left>, String> {
        if let Some(commit) = self.repository.read_ref(name).map_err(words)? {
            return Left::of(&self.repository, &commit).map(Some);
        }
        if !checkout.is_dir() {
            return Ok(None);
        }
        let (base, _) = self.base_of(active)?;
        let left = self
            .repository
            .snapshot(checkout, &base, &self.kept())
            .map_err(words)?;
        let message = message_of_left(subject, &left);
        let made = self
            .repository
            .commit(&left.tree, &base, &message, active.planned_at_ms / 1000);
        let made = made.map_err(words)?;
        self.repository.move_ref(name, None, &made).map_err(words)?;
        Left::of(&self.repository, &made).map(Some)
    }

    /// An implementor's files without tests that it was shown and left alone: they are their
    /// writer's, and where they were written anew the old ones are gone.
    fn without_shown_tests(
        &self,
        story: &StoryProgress,
        active: &Attempt,
        base: &TreeId,
        code: TreeId,
    ) -> Result<TreeId, String> {
        if active.flow.row(Stage::Implement).base != kernel::Base::StoryWithTests {
            return Ok(code);
        }
        let mut shown = Vec::new();
        for round in 1..=story.tests.as_ref().map_or(0, |tests| tests.round) {
            let name = reference("tests", &story.spec.id, &round.to_string());
            let Some(commit) = self.repository.read_ref(&name).map_err(words)? else {
                continue;
            };
            let tests = self.repository.tree_of(&commit).map_err(words)?;
            shown.extend(self.repository.tree_changes(base, &tests).map_err(words)?);
        }
        let changes = self.repository.tree_changes(base, &code).map_err(words)?;
        let untouched = changes.into_iter().filter(|change| shown.contains(change));
        let paths: Vec<PathBuf> = untouched.map(|change| change.path).collect();
        crate::trees::with_files_of(&self.repository, base, &code, &paths)
    }

    /// The tree that a writing stage began with.
    fn started_from(
        &self,
        active: &Attempt,
        stage: Stage,
        base: &TreeId,
    ) -> Result<TreeId, String> {
        let (story, _) = self.state.active().ok_or("no story is being worked on")?;
        match active.flow.row(stage).base {
            kernel::Base::StoryWithTests => {
                Ok(tests_tree(&self.repository, story)?.unwrap_or_else(|| base.clone()))
            }
            kernel::Base::Story | kernel::Base::Candidate => Ok(base.clone()),
        }
    }

    pub(crate) fn over(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        rules: &TestRules,
    ) -> Result<Overlay, String> {
        self.repository
            .overlay(base, code, tests, &|path| rules.is_test(path))
            .map_err(words)
    }

    /// What a judge must know of a candidate, and why a person must agree, where policy says so.
    fn notes(
        &self,
        base: &TreeId,
        tests: &TreeId,
        overlay: &Overlay,
        is_judged: bool,
    ) -> Result<(Vec<String>, Option<String>), String> {
        let protected = protect(&self.repository, &self.settings, tests, &overlay.tree)?;
        let agents = agent_config(&self.repository, base, &overlay.tree)?;
        let mut notes = protected.flags.clone();
        notes.extend(
            agents
                .iter()
                .map(|path| format!("it changes `{path}`, which configures agents")),
        );
        notes.extend(guidance(&self.repository, base, &overlay.tree)?);
        notes.extend(overlay.implementor_tests.iter().map(|path| {
            format!(
                "the implementor changed the existing test file `{}`",
                path.display()
            )
        }));
        notes.extend(overlay.overridden.iter().map(|path| {
            format!(
                "the implementor's `{}` gave way to the test writer's",
                path.display()
            )
        }));
        notes.extend(overlay.conflicts.iter().map(|conflict| {
            let (path, hunk) = (conflict.path.display(), &conflict.implementor_hunk);
            format!(
                "both changed `{path}`; the test writer's is used, and the implementor's change was:\n{hunk}"
            )
        }));
        let policy = self.settings.policy;
        let mut why = match policy.check_config {
            Policy::Ask => protected.flags,
            // Where nobody judges, nobody else would see that a check speaks with the candidate's
            // own voice.
            Policy::Flag if !is_judged => {
                let own = protected.own_checks.iter();
                own.map(|path| format!("it changes `{path}`, which a check command runs"))
                    .collect()
            }
            Policy::Flag => Vec::new(),
        };
        let of_agents = agents.iter().filter(|_| policy.agent_config == Policy::Ask);
        why.extend(of_agents.map(|path| format!("it changes `{path}`, which configures agents")));
        let ask =
            (!why.is_empty()).then(|| format!("shall this candidate land? {}", why.join("; ")));
        let bounded = |note: String| note.chars().take(NOTE_BYTES_MAX).collect();
        Ok((
            notes.into_iter().take(NOTES_MAX).map(bounded).collect(),
            ask,
        ))
    }
}

pub(crate) fn reference(kind: &str, story: &str, name: &str) -> String {
    format!(
        "refs/loopwright/{kind}/{}/{name}",
        workspace::ref_component(story)
    )
}

/// The tree of the tests that stand for a story.
pub(crate) fn tests_tree(
    repository: &LoopRepo,
    story: &StoryProgress,
) -> Result<Option<TreeId>, String> {
    let commit = story.tests.as_ref().and_then(|tests| tests.commit.as_ref());
    let Some(commit) = commit else {
        return Ok(None);
    };
    repository
        .tree_of(&commit_id(commit)?)
        .map(Some)
        .map_err(words)
}

/// The name of an attempt's candidate; a second one of the same attempt has another.
fn candidate_name(story: &StoryProgress, active: &Attempt) -> String {
    let round = story.tests.as_ref().map_or(1, |tests| tests.round);
    match (active.tries.contains_key(&Stage::Prove), round) {
        (true, _) => format!("{}-proven", active.number),
        (false, 0 | 1) => active.number.to_string(),
        (false, round) => format!("{}-tests-{round}", active.number),
    }
}

/// The candidate's message; the date and everything else comes from the journal, so that it is
/// always the same.
fn message(state: &State, story: &StoryProgress, active: &Attempt) -> String {
    let (loop_id, id, attempt) = (&state.spec().loop_id, &story.spec.id, active.number);
    let title = story.spec.title.replace('\n', " ");
    // Where nobody but the checks has the last word, the commit says so.
    let verified = if active.flow.has(Stage::Judge) {
        ""
    } else {
        "Verified: checks-only\n"
    };
    format!(
        "feat: [{loop_id}] [{id}] attempt-{attempt} — {title}\n\nLoop-Id: {loop_id}\nStory-Id: {id}\nAttempt: {attempt}\n{verified}"
    )
}

/// Says whether an attempt made the same files as one that was rejected.
fn is_rejected_again(
    repository: &LoopRepo,
    story: &StoryProgress,
    commit: &CommitId,
) -> Result<bool, String> {
    for rejected in &story.rejected {
        if repository
            .changed_paths(&commit_id(rejected)?, commit)
            .map_err(words)?
            .is_empty()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub(crate) fn commit_id(commit: &Commit) -> Result<CommitId, String> {
    CommitId::parse(commit.as_str()).map_err(words)
}

fn nothing_new(story: &str, attempt: u32, why: &str) -> Event {
    Event::NothingNew {
        story: story.to_owned(),
        attempt,
        why: why.to_owned(),
    }
}
