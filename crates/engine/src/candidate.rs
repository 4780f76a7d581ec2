//! Turns what agents left into commits: the writer's tests, the implementor's code, and the candidate made of both.
//!
//! Every function here may be run twice and finds what its earlier self has done: each commit has a ref of its own.

use std::path::{Path, PathBuf};

use kernel::{Attempt, Commit, Event, RunKey, Stage, State, StoryProgress, TestsOrder};
use workspace::{CommitId, LoopRepo, Overlay, Reason, Snapshot, TreeId};

use crate::hands::kind_of;
use crate::home::RunName;
use crate::protect::{agent_config, protect};
use crate::rules::{TestRules, read_text};
use crate::settings::{Policy, Settings};
use crate::worker::Worker;

/// What carrying out an effect gives: an event, or why there is none yet.
pub(crate) type Landed = Result<Option<Event>, String>;

/// Notes on a candidate that are kept, and how long one may be.
const NOTES_MAX: usize = 40;
const NOTE_BYTES_MAX: usize = 4_000;

impl Worker {
    /// Turns what the test writer left into a commit on the story's base.
    pub(crate) fn make_tests(&self, loop_id: &str, id: &str, attempt: u32) -> Landed {
        let making = self.making(loop_id)?;
        let (story, active) = making.state.active().ok_or("no story is being worked on")?;
        let round = story.tests.as_ref().map_or(0, |tests| tests.round) + 1;
        let name = reference("tests", id, &round.to_string());
        let (base, base_tree) = making.base_of(active)?;
        let rules = TestRules::of(&making.repository, &making.settings, &base_tree)?;
        let checkout = self.last_checkout(loop_id, making.state, id, attempt, Stage::WriteTests)?;
        let written = match making.repository.read_ref(&name).map_err(words)? {
            Some(commit) => {
                let tree = making.repository.tree_of(&commit).map_err(words)?;
                Written { commit: Some(commit), overlay: making.over(&base_tree, &base_tree, &tree, &rules)? }
            }
            None if !checkout.is_dir() => {
                return Ok(Some(refused(id, attempt, "the test writer left no checkout behind")));
            }
            None => {
                let left = making.repository.snapshot(&checkout, &base, &making.kept()).map_err(words)?;
                Written { commit: None, overlay: making.over(&base_tree, &base_tree, &left.tree, &rules)? }
            }
        };
        let event = making.tests_event(story, (id, attempt, round), active, written, &rules, &name)?;
        self.retire(loop_id, &checkout);
        Ok(Some(event))
    }

    /// Turns what the writers left into the candidate.
    pub(crate) fn make_candidate(&self, loop_id: &str, id: &str, attempt: u32) -> Landed {
        let making = self.making(loop_id)?;
        let (story, active) = making.state.active().ok_or("no story is being worked on")?;
        let (code, left_out) = match self.code(&making, loop_id, active, id, attempt)? {
            Code::There { tree, notes } => (tree, notes),
            Code::Nothing(why) => return Ok(Some(nothing_new(id, attempt, why))),
        };
        let (base, base_tree) = making.base_of(active)?;
        let rules = TestRules::of(&making.repository, &making.settings, &base_tree)?;
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
        making.repository.move_ref(&name, None, &commit).map_err(words)?;
        let (mut notes, ask) = making.notes(&base_tree, &tests, &overlay)?;
        notes.extend(left_out);
        let commit = Commit::new(commit.as_str()).map_err(words)?;
        Ok(Some(Event::CandidateMade { story: id.to_owned(), attempt, commit, notes, ask }))
    }

    fn making(&self, loop_id: &str) -> Result<Making<'_>, String> {
        let state = &self.loaded(loop_id).ok_or("the loop is not loaded")?.state;
        Ok(Making { state, settings: self.settings(loop_id)?, repository: self.repository(loop_id)? })
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
        let (stage, kind) = if proven { (Stage::Prove, "proven") } else { (Stage::Implement, "code") };
        let name = reference(kind, id, &attempt.to_string());
        let checkout = self.last_checkout(loop_id, making.state, id, attempt, stage)?;
        if let Some(commit) = making.repository.read_ref(&name).map_err(words)? {
            // An earlier self got this far; the checkout may be gone already.
            self.retire(loop_id, &checkout);
            return Code::of(&making.repository, &commit);
        }
        if !checkout.is_dir() {
            return Ok(Code::Nothing("the attempt left no checkout behind"));
        }
        let (base, base_tree) = making.base_of(active)?;
        let left = making.repository.snapshot(&checkout, &base, &making.kept()).map_err(words)?;
        let started_from = making.started_from(active, stage, &base_tree)?;
        if left.tree == started_from && stage == Stage::Implement {
            self.retire(loop_id, &checkout);
            return Ok(Code::Nothing("the attempt changed nothing"));
        }
        let commit = making
            .repository
            .commit(&left.tree, &base, &code_message(kind, id, &left), active.planned_at_ms / 1000)
            .map_err(words)?;
        making.repository.move_ref(&name, None, &commit).map_err(words)?;
        self.retire(loop_id, &checkout);
        Code::of(&making.repository, &commit)
    }

    /// The checkout of the last try of a stage.
    fn last_checkout(
        &self,
        loop_id: &str,
        loop_state: &State,
        story: &str,
        attempt: u32,
        stage: Stage,
    ) -> Result<PathBuf, String> {
        let loaded = self.loaded(loop_id).ok_or("the loop is not loaded")?;
        let of_stage = |run: &&RunKey| run.story == story && run.attempt == attempt && run.stage == stage;
        let started = loaded.records.iter().rev().filter_map(|record| match &record.event {
            Event::RunStarted { run } => Some(run),
            _ => None,
        });
        let run = started.into_iter().find(of_stage).ok_or("the attempt had no such run")?;
        Ok(self.home.checkout(loop_id, &RunName::of(loop_state, run)))
    }
}

/// The implementor's files.
enum Code {
    There { tree: TreeId, notes: Vec<String> },
    Nothing(&'static str),
}

impl Code {
    /// Its commit says what was left out, so that whoever finds it later says the same.
    fn of(repository: &LoopRepo, commit: &CommitId) -> Result<Self, String> {
        let tree = repository.tree_of(commit).map_err(words)?;
        let message = repository.message_of(commit).map_err(words)?;
        let notes = message.lines().skip(2).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Ok(Self::There { tree, notes })
    }
}

/// The message of the implementor's own commit: what of its work is not in it, and why.
fn code_message(kind: &str, id: &str, left: &Snapshot) -> String {
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
    let left_out =
        left_out.map(|left| format!("`{}` was left out: {}", one_line(&left.path), why(left.reason)));
    let ignored = left.newly_ignored.iter().take(NOTES_MAX);
    let ignored = ignored.map(|path| format!("its own new rules ignore `{}`", one_line(path)));
    let notes: Vec<String> = left_out.chain(ignored).collect();
    format!("{kind}: {}\n\n{}\n", id.replace('\n', " "), notes.join("\n"))
}

/// The writer's tests; with the commit that an earlier self made of them.
struct Written {
    commit: Option<CommitId>,
    overlay: Overlay,
}

/// What all of this needs.
struct Making<'a> {
    state: &'a State,
    settings: Settings,
    repository: LoopRepo,
}

impl Making<'_> {
    fn base_of(&self, active: &Attempt) -> Result<(CommitId, TreeId), String> {
        let base = commit_id(&active.base)?;
        let tree = self.repository.tree_of(&base).map_err(words)?;
        Ok((base, tree))
    }

    /// Neither the PRD nor what we copied in ourselves is an agent's to change or to publish.
    fn kept(&self) -> Vec<PathBuf> {
        let copied = self.settings.copy.iter().map(|name| Path::new(&self.settings.subdir).join(name));
        let folders = self.settings.agents.values().flat_map(|agent| kind_of(agent).facts().executes);
        let hidden = folders.map(|folder| PathBuf::from(*folder));
        self.settings.prd_in_repository.iter().map(PathBuf::from).chain(copied).chain(hidden).collect()
    }

    /// The tree that a writing stage began with.
    fn started_from(&self, active: &Attempt, stage: Stage, base: &TreeId) -> Result<TreeId, String> {
        let (story, _) = self.state.active().ok_or("no story is being worked on")?;
        match active.flow.row(stage).base {
            kernel::Base::StoryWithTests => {
                Ok(tests_tree(&self.repository, story)?.unwrap_or_else(|| base.clone()))
            }
            kernel::Base::Story | kernel::Base::Candidate => Ok(base.clone()),
        }
    }

    fn over(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        rules: &TestRules,
    ) -> Result<Overlay, String> {
        self.repository.overlay(base, code, tests, &|path| rules.is_test(path)).map_err(words)
    }

    fn tests_event(
        &self,
        story: &StoryProgress,
        (id, attempt, round): (&str, u32, u32),
        active: &Attempt,
        written: Written,
        rules: &TestRules,
        reference: &str,
    ) -> Result<Event, String> {
        let overlay = written.overlay;
        if overlay.writer_files.is_empty() {
            let testable = !active.written.as_ref().is_some_and(kernel::Review::nothing_is_testable);
            if testable {
                let why = format!("no test file was added or changed; tests belong into {}", rules.words());
                return Ok(refused(id, attempt, &why));
            }
            let notes = vec!["the reviewer says that no criterion can be tested by a machine".to_owned()];
            return Ok(Event::TestsMade { story: id.to_owned(), attempt, commit: None, notes });
        }
        if let Some(why) = self.unusable(story, &overlay)? {
            return Ok(refused(id, attempt, &why));
        }
        let (base, _) = self.base_of(active)?;
        let message = format!("test: [{}] [{id}] round-{round}\n", self.state.spec().loop_id);
        let commit = match written.commit {
            Some(commit) => commit,
            None => {
                let made = self
                    .repository
                    .commit(&overlay.tree, &base, &message, active.planned_at_ms / 1000)
                    .map_err(words)?;
                self.repository.move_ref(reference, None, &made).map_err(words)?;
                made
            }
        };
        let dropped = overlay.dropped.iter().take(NOTES_MAX);
        let notes =
            dropped.map(|path| format!("the test writer's change to `{}` was dropped", path.display()));
        let notes = notes.collect();
        let commit = Some(Commit::new(commit.as_str()).map_err(words)?);
        Ok(Event::TestsMade { story: id.to_owned(), attempt, commit, notes })
    }

    /// Why tests cannot be used, whatever they would show.
    fn unusable(&self, story: &StoryProgress, overlay: &Overlay) -> Result<Option<String>, String> {
        let reader = self.repository.reader(&overlay.tree).map_err(words)?;
        for path in &overlay.writer_files {
            let text = read_text(&reader, path);
            if let Some(why) = checks::rules::reads_source_text(&path.to_string_lossy(), &text) {
                return Ok(Some(format!(
                    "`{}` looks at source text and not at behaviour: {why}",
                    path.display()
                )));
            }
        }
        let (Some(TestsOrder::Repair(_)), Some(before)) =
            (&story.tests_order, tests_tree(&self.repository, story)?)
        else {
            return Ok(None);
        };
        let old = self.repository.reader(&before).map_err(words)?;
        let count = |reader: &workspace::TreeReader| -> usize {
            overlay.writer_files.iter().map(|path| assertions(&read_text(reader, path))).sum()
        };
        let fewer = count(&reader) < count(&old);
        Ok(fewer.then(|| "a repair may change imports and calls, and it took assertions away".to_owned()))
    }

    /// What a judge must know of a candidate, and why a person must agree, where policy says so.
    fn notes(
        &self,
        base: &TreeId,
        tests: &TreeId,
        overlay: &Overlay,
    ) -> Result<(Vec<String>, Option<String>), String> {
        let protected = protect(&self.repository, &self.settings, tests, &overlay.tree)?;
        let agents = agent_config(&self.repository, base, &overlay.tree)?;
        let mut notes = protected.flags.clone();
        notes.extend(agents.iter().map(|path| format!("it changes `{path}`, which configures agents")));
        notes.extend(
            overlay
                .implementor_tests
                .iter()
                .map(|path| format!("the implementor changed the existing test file `{}`", path.display())),
        );
        notes.extend(
            overlay
                .overridden
                .iter()
                .map(|path| format!("the implementor's `{}` gave way to the test writer's", path.display())),
        );
        notes.extend(overlay.conflicts.iter().map(|conflict| {
            let (path, hunk) = (conflict.path.display(), &conflict.implementor_hunk);
            format!(
                "both changed `{path}`; the test writer's is used, and the implementor's change was:\n{hunk}"
            )
        }));
        let policy = self.settings.policy;
        let wants_person = (policy.check_config == Policy::Ask && !protected.flags.is_empty())
            || (policy.agent_config == Policy::Ask && !agents.is_empty());
        let why: Vec<String> = if policy.check_config == Policy::Ask { protected.flags } else { Vec::new() }
            .into_iter()
            .chain(agents.iter().map(|path| format!("it changes `{path}`, which configures agents")))
            .collect();
        let ask = wants_person.then(|| format!("shall this candidate land? {}", why.join("; ")));
        let bounded = |note: String| note.chars().take(NOTE_BYTES_MAX).collect();
        Ok((notes.into_iter().take(NOTES_MAX).map(bounded).collect(), ask))
    }
}

fn reference(kind: &str, story: &str, name: &str) -> String {
    format!("refs/loopwright/{kind}/{}/{name}", workspace::ref_component(story))
}

/// The tree of the tests that stand for a story.
pub(crate) fn tests_tree(repository: &LoopRepo, story: &StoryProgress) -> Result<Option<TreeId>, String> {
    let commit = story.tests.as_ref().and_then(|tests| tests.commit.as_ref());
    let Some(commit) = commit else { return Ok(None) };
    repository.tree_of(&commit_id(commit)?).map(Some).map_err(words)
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

/// The candidate's message; the date and everything else comes from the journal, so that it is always the same.
fn message(state: &State, story: &StoryProgress, active: &Attempt) -> String {
    let (loop_id, id, attempt) = (&state.spec().loop_id, &story.spec.id, active.number);
    let title = story.spec.title.replace('\n', " ");
    // Where nobody but the checks has the last word, the commit says so.
    let verified = if active.flow.has(Stage::Judge) { "" } else { "Verified: checks-only\n" };
    format!(
        "feat: [{loop_id}] [{id}] attempt-{attempt} — {title}\n\nLoop-Id: {loop_id}\nStory-Id: {id}\nAttempt: {attempt}\n{verified}"
    )
}

/// Lines that say what must be.
fn assertions(text: &str) -> usize {
    let says = ["assert", "expect", "should", "is(", "ok(", "raises", "throws"];
    text.lines().filter(|line| says.iter().any(|word| line.contains(word))).count()
}

/// Says whether an attempt made the same files as one that was rejected.
fn is_rejected_again(
    repository: &LoopRepo,
    story: &StoryProgress,
    commit: &CommitId,
) -> Result<bool, String> {
    for rejected in &story.rejected {
        if repository.changed_paths(&commit_id(rejected)?, commit).map_err(words)?.is_empty() {
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
    Event::NothingNew { story: story.to_owned(), attempt, why: why.to_owned() }
}

fn refused(story: &str, attempt: u32, why: &str) -> Event {
    Event::TestsRefused { story: story.to_owned(), attempt, why: why.to_owned() }
}
