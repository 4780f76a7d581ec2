//! Plays a scenario: one worker after the other, each as long as the power lasts, until the loop is
//! over or nothing more can happen.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use checks::compare::{Measured, Measurement};
use checks::results::{Occurrence, Results, TestStatus};
use engine::{CheckPlan, Execution, Limits, Log, Ports, Report, Worker};
use home::{AgentSettings, CheckSettings, CommitSettings, Home, Policies, Settings};
use journal::{AppendError, Fence, Journal, JournalError, LoopHead, NewRecord, ReadError, Record};
use kernel::{Commit, EndReason, Event, LoopSpec, Stage, Stamped, State, StorySpec, StoryStatus};
use sandbox::{ExitCause, ExitRecord, RunSpec};
use workspace::TreeId;

use crate::marks::{Marks, run_name};
use crate::memory::{
    Ends, MemoryRepositories, MemoryRuns, Objects, Power, SharedRuns, is_power_cut, lock,
};
use crate::scenario::{PersonCase, RunCase, Scenario, Wanted};

pub(crate) const LOOP_ID: &str = "01AAAAAAAAAAAAAAAAAAAAAAAA";
const START_MS: i64 = 1_800_000_000_000;

/// The files that every project of a scenario begins with.
const BASE: [(&str, &str); 2] = [
    ("src/base", "base here\n"),
    ("tests/base", "src/base has base\n"),
];

/// Everything that must be the same, however often the power failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) status: String,
    pub(crate) stories: Vec<String>,
    /// Every run that was started, in no order: which of two lanes comes first is chance.
    pub(crate) runs: Vec<String>,
    /// What became of work: commits, refusals, landings, skips.
    pub(crate) deeds: Vec<String>,
    pub(crate) refs: BTreeMap<String, String>,
    pub(crate) published: BTreeMap<String, String>,
    pub(crate) branch: Vec<String>,
    pub(crate) prd: String,
    pub(crate) asked: usize,
}

/// A play of a scenario.
pub(crate) struct Play {
    scenario: Scenario,
    folder: tempfile::TempDir,
    journal: Arc<Journal>,
    repositories: MemoryRepositories,
    runs: Arc<MemoryRuns>,
    power: Arc<Power>,
    clock_ms: Arc<Mutex<i64>>,
    person: Arc<Mutex<Person>>,
    pub(crate) marks: Arc<Marks>,
}

/// The name of the loop's branch.
pub(crate) fn branch_name() -> String {
    format!("agent-loop/{LOOP_ID}")
}

/// What the people of a scenario have still to do.
struct Person {
    left: Vec<PersonCase>,
    /// What they saw at the moments at which the scenario looks.
    seen: Vec<Seen>,
    state: Option<State>,
}

/// What people see at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) when: String,
    pub(crate) status: String,
    pub(crate) questions: Vec<String>,
}

impl Play {
    /// Sets the stage; the power fails at these crash points.
    pub(crate) fn new(scenario: &Scenario, cut_at: Vec<usize>) -> Self {
        let folder = scratch();
        let power = Power::cut_at(cut_at);
        let marks = Arc::new(Marks::default());
        let usual = BASE.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let mut files = BTreeMap::from(usual);
        files.extend(scenario.project.clone());
        let (mut repositories, base) =
            MemoryRepositories::with_base(Arc::clone(&power), Arc::clone(&marks), &files);
        let kept = scenario.publish.iter();
        let kept = kept.map(|case| (case.story.clone(), case.free_after.clone()));
        repositories.kept_branches = kept.collect();
        lock(&repositories.objects).publish_refusals = scenario.publish_refusals;
        let objects = Arc::clone(&repositories.objects);
        let script = script(scenario.clone(), objects, Arc::clone(&marks));
        let runs = MemoryRuns::new(Arc::clone(&power), Arc::clone(&marks), script);
        let prd_path = folder.path().join("project/prd.json");
        fs::create_dir_all(folder.path().join("project")).expect("made");
        fs::create_dir_all(folder.path().join("home")).expect("made");
        fs::write(&prd_path, prd_text(scenario)).expect("written");
        let journal = Arc::new(Journal::in_memory().expect("a journal"));
        let spec = spec(scenario, folder.path(), &prd_path, base.as_str());
        let first = Event::LoopStarted {
            spec: Box::new(spec),
        };
        append(&journal, 0, START_MS, &first);
        let state = State::begin(&Stamped {
            at_ms: START_MS,
            event: first,
        });
        Self {
            person: Arc::new(Mutex::new(Person {
                left: scenario.person.clone(),
                seen: Vec::new(),
                state: Some(state.expect("a first state")),
            })),
            scenario: scenario.clone(),
            folder,
            journal,
            repositories,
            runs,
            power,
            clock_ms: Arc::new(Mutex::new(START_MS)),
            marks,
        }
    }

    /// Plays to the end. Gives the crash points that were passed.
    pub(crate) fn out(&self) -> Vec<String> {
        const LIVES_MAX: usize = 2_000;
        for _ in 0..LIVES_MAX {
            let lived = catch_unwind(AssertUnwindSafe(|| self.live()));
            match lived {
                Ok(()) => return self.power.points(),
                Err(panic) => assert!(is_power_cut(panic)),
            }
        }
        panic!("{}: the loop does not end", self.scenario.name);
    }

    /// One worker, until nothing more can happen.
    fn live(&self) {
        const TURNS_MAX: usize = 1_000;
        let mut worker = self.worker();
        for _ in 0..TURNS_MAX {
            let turn = worker.turn().expect("a turn");
            let is_over = || {
                let person = lock(&self.person);
                person
                    .state
                    .as_ref()
                    .is_some_and(|state| state.ended().is_some())
            };
            if turn.live == 0 && turn.owing == 0 {
                // Somebody may have asked for more in its last moment.
                if is_over() {
                    return;
                }
                continue;
            }
            if turn.moved || turn.running > 0 || turn.owing > 0 {
                continue;
            }
            let waits = worker
                .tracked(LOOP_ID)
                .and_then(|tracked| tracked.state.waits_until_ms());
            match waits {
                Some(until_ms) => {
                    let mut clock = lock(&self.clock_ms);
                    *clock = until_ms.max(*clock);
                }
                // Nobody waits for a time, and nobody acts: a person would have to.
                None => return,
            }
        }
        panic!("{}: the worker turns for ever", self.scenario.name);
    }

    pub(crate) fn ports(&self) -> Ports {
        let clock_ms = Arc::clone(&self.clock_ms);
        Ports {
            home: Home::at(self.folder.path().join("home")),
            program: PathBuf::from("loopwright"),
            clock: Arc::new(move || *lock(&clock_ms)),
            runs: Box::new(SharedRuns(Arc::clone(&self.runs))),
            repositories: Box::new(self.repositories.clone()),
        }
    }

    fn worker(&self) -> Worker {
        let log = Arc::new(WatchedLog {
            journal: Arc::clone(&self.journal),
            power: Arc::clone(&self.power),
            person: Arc::clone(&self.person),
            objects: Arc::clone(&self.repositories.objects),
            marks: Arc::clone(&self.marks),
            scenario: self.scenario.clone(),
        });
        let limits = Limits {
            agents_max: 32,
            checks_max: 8,
        };
        Worker::take(self.ports(), log, limits, Execution::Inline).expect("a worker")
    }

    pub(crate) fn records(&self) -> Vec<Stamped> {
        home::load(&self.journal, LOOP_ID)
            .expect("the loop")
            .records
    }

    pub(crate) fn ending(&self) -> Ending {
        let records = self.records();
        let state = State::replay(&records).expect("it replays");
        let objects = lock(&self.repositories.objects);
        let name = format!("refs/heads/agent-loop/{LOOP_ID}");
        let text = |map: &BTreeMap<String, workspace::CommitId>| {
            map.iter()
                .map(|(name, commit)| (name.clone(), commit.to_string()))
                .collect::<BTreeMap<String, String>>()
        };
        let mut runs: Vec<String> = records
            .iter()
            .filter_map(|record| run_word(&record.event))
            .collect();
        runs.sort();
        Ending {
            status: status(&state),
            stories: state.stories().iter().map(story_word).collect(),
            runs,
            deeds: self.deeds(&records),
            // Whether a cancelled agent had begun when the power failed is chance, and so is whether it
            // left anything to keep.
            refs: text(&objects.refs)
                .into_iter()
                .filter(|(name, _)| !name.starts_with("refs/loopwright/cancelled/"))
                .collect(),
            published: text(&objects.published),
            branch: objects
                .refs
                .get(&name)
                .map(|head| objects.log(head))
                .unwrap_or_default(),
            prd: fs::read_to_string(self.folder.path().join("project/prd.json")).expect("read"),
            asked: n_questions(&records),
        }
    }

    /// What became of work, in order. Which of several stories comes first is chance unless agents wait
    /// for each other; `branch` shows the order in which they landed.
    fn deeds(&self, records: &[Stamped]) -> Vec<String> {
        let mut deeds: Vec<(String, String)> = records
            .iter()
            .filter_map(|record| Some((story_of(&record.event), deed_word(&record.event)?)))
            .collect();
        if self.scenario.parallel > 1 {
            // The order within a story stays.
            deeds.sort_by(|one, other| one.0.cmp(&other.0));
        }
        deeds.into_iter().map(|(_, word)| word).collect()
    }

    /// The texts of a commit's files.
    pub(crate) fn files_at(&self, commit: &str) -> BTreeMap<PathBuf, String> {
        let objects = lock(&self.repositories.objects);
        let commit = workspace::CommitId::parse(commit).expect("an id");
        let files = objects.files(&objects.tree_of(&commit)).into_iter();
        let text = |entry| String::from_utf8(objects.bytes(&entry)).expect("a text");
        files.map(|(path, entry)| (path, text(entry))).collect()
    }

    /// The former work that implementors were given.
    pub(crate) fn formers(&self) -> Vec<BTreeMap<PathBuf, String>> {
        let formers = lock(&self.repositories.objects).formers.clone();
        let formers = formers.iter();
        formers
            .map(|commit| self.files_at(commit.as_str()))
            .collect()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        lock(&self.person).seen.clone()
    }

    pub(crate) fn looks(&self) -> &[crate::scenario::LookCase] {
        &self.scenario.look
    }

    /// Every agent was started exactly once for each of its tries.
    pub(crate) fn assert_one_start_each(&self) {
        let mut starts = lock(&self.runs.starts).clone();
        let n_starts = starts.len();
        starts.sort();
        starts.dedup();
        assert_eq!(
            starts.len(),
            n_starts,
            "{}: a run was started twice",
            self.scenario.name
        );
    }
}

fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        return tempfile::tempdir_in(memory).expect("a scratch folder");
    }
    tempfile::tempdir().expect("a scratch folder")
}

fn append(journal: &Journal, expected: u64, at_ms: i64, event: &Event) -> bool {
    let body = serde_json::to_string(event).expect("JSON");
    let record = NewRecord {
        at_ms,
        kind: event.kind(),
        body: &body,
    };
    journal.append(LOOP_ID, expected, None, &[record]).is_ok()
}

/// The log, with a crash point around every record, and people who act right after the record that
/// they wait for.
struct WatchedLog {
    journal: Arc<Journal>,
    power: Arc<Power>,
    person: Arc<Mutex<Person>>,
    objects: Arc<Mutex<Objects>>,
    marks: Arc<Marks>,
    scenario: Scenario,
}

impl WatchedLog {
    /// Lets people act on a record that was just written.
    fn tell_people(&self, at_ms: i64, last: u64, body: &str) {
        let event: Event = serde_json::from_str(body).expect("an event");
        let mut person = lock(&self.person);
        let mut state = person.state.take().expect("a state");
        let stamped = Stamped { at_ms, event };
        let before = state.clone();
        state.apply(&stamped).expect("a legal move");
        self.marks.note(&stamped.event, &before, &state);
        self.look(&state, &mut person.seen);
        let mut last = last;
        while let Some(next) = person.left.first().cloned() {
            let Some(event) = next.event(&state, self) else {
                break;
            };
            let request = Stamped { at_ms, event };
            let before = state.clone();
            // Refused now, such as a skip while another lane runs: tried again after the next record.
            if state.apply(&request).is_err() {
                break;
            }
            self.marks.note(&request.event, &before, &state);
            self.look(&state, &mut person.seen);
            assert!(
                append(&self.journal, last, at_ms, &request.event),
                "a request is taken"
            );
            last += 1;
            person.left.remove(0);
        }
        person.state = Some(state);
    }

    /// Notes what people see at the moments at which the scenario looks.
    fn look(&self, state: &State, seen: &mut Vec<Seen>) {
        for case in &self.scenario.look {
            let when = case.when.strip_prefix("after ").unwrap_or(&case.when);
            let is_seen = seen.iter().any(|one| one.when == case.when);
            if !is_seen && self.marks.has(when) {
                let questions = state.questions();
                let mut asking: Vec<String> =
                    questions.iter().map(|one| one.story.to_string()).collect();
                asking.dedup();
                seen.push(Seen {
                    when: case.when.clone(),
                    status: status(state),
                    questions: asking,
                });
            }
        }
    }

    /// The PRD and the configuration as they are after an edit.
    fn reloaded(&self, state: &State) -> Event {
        let case = self.scenario.reload.as_ref().expect("what a reload brings");
        let mut edited = self.scenario.clone();
        edited.story.retain(|story| !case.drop.contains(&story.id));
        for story in &case.story {
            match edited.story.iter_mut().find(|known| known.id == story.id) {
                Some(known) => *known = story.clone(),
                None => edited.story.push(story.clone()),
            }
        }
        edited.parallel = case.parallel.unwrap_or(edited.parallel);
        Event::Reloaded {
            settings: Arc::clone(&state.spec().settings),
            stories: stories(&edited),
            together: Some(edited.together()),
        }
    }
}

impl PersonCase {
    /// What the person does, if its moment has come.
    fn event(&self, state: &State, log: &WatchedLog) -> Option<Event> {
        let is_due = match self.when.as_str() {
            "asks" => state.questions().iter().any(|question| {
                let is_its = self.story.as_deref();
                let is_text = self.to.as_deref();
                is_its.is_none_or(|story| question.story == *story)
                    && is_text.is_none_or(|text| question.text == text)
            }),
            "taken" => state
                .story(self.story.as_deref()?)
                .is_some_and(|story| matches!(story.status, StoryStatus::Taken { .. })),
            when => log.marks.has(when.strip_prefix("after ").unwrap_or(when)),
        };
        if !is_due {
            return None;
        }
        Some(match self.does.as_str() {
            "request cancel" => Event::CancelRequested {
                reason: "enough".to_owned(),
            },
            "request pause" => Event::PauseRequested,
            "request resume" => Event::ResumeRequested,
            "request reload" => log.reloaded(state),
            "request publish" => Event::PublishRequested,
            does if does.starts_with("story ") => self.steer(state, &log.objects)?,
            choice => Event::Answered {
                choice: choice.to_owned(),
                story: self.addressee(state),
            },
        })
    }
}

impl PersonCase {
    /// The story that an answer names: the given one, or one that asks the given question.
    fn addressee(&self, state: &State) -> Option<kernel::StoryId> {
        if let Some(story) = &self.story {
            return Some(story.as_str().into());
        }
        let text = self.to.as_ref()?;
        let questions = state.questions();
        let asking = questions.iter().find(|one| one.text == *text);
        asking.map(|one| one.story.clone())
    }

    /// What the person wants of one story.
    fn steer(&self, state: &State, objects: &Mutex<Objects>) -> Option<Event> {
        let story: kernel::StoryId = self.story.as_deref().expect("a story").into();
        let by = "Ada <ada@example.com>".to_owned();
        Some(match self.does.as_str() {
            "story retry" => Event::RetryRequested {
                story,
                hint: self.words.clone(),
                agent: self.agent.as_deref().map(Into::into),
                flow: self.flow.as_deref().and_then(kernel::Flow::named),
            },
            "story skip" => Event::SkipRequested {
                story,
                reason: self.words.clone().unwrap_or_default(),
            },
            "story accept" => Event::AcceptRequested {
                commit: state.story(&story)?.rejected.last()?.commit.clone(),
                story,
                by,
                reason: self.words.clone(),
            },
            "story take" => Event::TakeRequested {
                story,
                by,
                folder: None,
            },
            "story hand in" => {
                let mut objects = lock(objects);
                let base = workspace::CommitId::parse(state.head().as_str()).expect("an id");
                let commit = objects.commit_with(&base, &self.write);
                Event::HandedIn {
                    story,
                    commit: Commit::new(commit.as_str()).expect("a commit"),
                    by,
                }
            }
            other => panic!("nobody can do `{other}`"),
        })
    }
}

impl Log for WatchedLog {
    fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: &Fence,
        record: NewRecord<'_>,
    ) -> Result<u64, AppendError> {
        self.power.point("before a record");
        let last = self
            .journal
            .append(loop_id, expected, Some(fence), &[record])?;
        self.tell_people(record.at_ms, last, record.body);
        self.power.point("after a record");
        Ok(last)
    }

    fn read(&self, loop_id: &str, after: u64) -> Result<Vec<Record>, ReadError> {
        self.journal.read(loop_id, after)
    }

    fn heads(&self) -> Result<Vec<LoopHead>, JournalError> {
        self.journal.heads()
    }

    /// People write through the worker's own connection here, so there is always something to read.
    fn change_mark(&self) -> Result<i64, JournalError> {
        let last = self.journal.last(LOOP_ID)?;
        Ok(i64::try_from(last).unwrap_or_default())
    }

    fn quarantine(&self, loop_id: &str, why: &str) -> Result<(), JournalError> {
        panic!("{loop_id} was set apart: {why}");
    }

    fn take_lease(&self, now_ms: i64, ttl_ms: i64) -> Result<Option<Fence>, JournalError> {
        self.journal.take_lease("worker", "one", now_ms, ttl_ms)
    }

    fn renew_lease(&self, fence: &Fence, now_ms: i64, ttl_ms: i64) -> Result<bool, JournalError> {
        self.journal.renew_lease(fence, now_ms, ttl_ms)
    }

    fn release_lease(&self, fence: &Fence) -> Result<(), JournalError> {
        self.journal.release_lease(fence)
    }
}

fn status(state: &State) -> String {
    match state.ended() {
        Some(EndReason::Completed) => "completed",
        Some(EndReason::Cancelled { .. }) => "cancelled",
        Some(EndReason::MaxIterationsReached) => "max_iterations_reached",
        Some(EndReason::BudgetExhausted) => "budget_exhausted",
        Some(EndReason::Failed { .. }) => "failed",
        None if kernel::needs_person(state) => "needs_human",
        None if state.is_paused() => "paused",
        None => "running",
    }
    .to_owned()
}

fn story_word(story: &kernel::StoryProgress) -> String {
    let word = match &story.status {
        StoryStatus::Pending => "pending",
        StoryStatus::Active(_) => "active",
        StoryStatus::Passed(_) => "passed",
        StoryStatus::Skipped { .. } => "skipped",
        StoryStatus::Blocked { .. } => "blocked",
        StoryStatus::SetAside => "set aside",
        StoryStatus::Taken { .. } => "taken",
    };
    format!("{} {word} {}", story.spec.id, story.attempts)
}

fn run_word(event: &Event) -> Option<String> {
    match event {
        Event::RunStarted { run } => Some(run_name(run)),
        _ => None,
    }
}

fn story_of(event: &Event) -> String {
    let event = serde_json::to_value(event).expect("JSON");
    let story = event["story"].as_str().or(event["run"]["story"].as_str());
    story.unwrap_or_default().to_owned()
}

fn deed_word(event: &Event) -> Option<String> {
    match event {
        Event::TestsMade { .. }
        | Event::TestsRefused { .. }
        | Event::CandidateMade { .. }
        | Event::CandidateRefused { .. }
        | Event::NothingNew { .. }
        | Event::Restacked { .. }
        | Event::RestackRefused { .. }
        | Event::Integrated { .. }
        | Event::Retracted { .. }
        | Event::StorySkipped { .. }
        | Event::StoryBlocked { .. }
        | Event::RecheckPlanned { .. }
        | Event::AgentSwitched { .. }
        | Event::LoopEnded { .. } => Some(format!("{event:?}")),
        // After a crash the first try may find the branch free where a calm one did not.
        Event::Announced { story, prd, .. } => Some(format!("announced {story}, PRD {prd:?}")),
        _ => None,
    }
}

/// How many questions people were asked in all.
fn n_questions(records: &[Stamped]) -> usize {
    let mut state = State::begin(&records[0]).expect("a first state");
    let (mut open, mut count) = (Vec::new(), 0);
    for record in &records[1..] {
        state.apply(record).expect("it replays");
        let questions = state.questions();
        count += questions
            .iter()
            .filter(|question| !open.contains(*question))
            .count();
        open = questions;
    }
    count
}

fn prd_text(scenario: &Scenario) -> String {
    let stories: Vec<String> = scenario
        .story
        .iter()
        .map(|story| {
            format!(
                "  {{ \"id\": \"{}\", \"title\": \"Story {}\", \"passes\": false }}",
                story.id, story.id
            )
        })
        .collect();
    format!("{{ \"stories\": [\n{}\n] }}\n", stories.join(",\n"))
}

fn stories(scenario: &Scenario) -> Vec<Arc<StorySpec>> {
    let story = |(rank, case): (usize, &crate::scenario::StoryCase)| {
        Arc::new(StorySpec {
            id: case.id.as_str().into(),
            title: format!("Story {}", case.id),
            description: String::new(),
            criteria: case.criteria.clone(),
            rank: u32::try_from(rank).expect("few stories"),
            depends_on: case
                .depends_on
                .iter()
                .map(|on| on.as_str().into())
                .collect(),
            files: case.files.clone(),
            ..StorySpec::default()
        })
    };
    scenario.story.iter().enumerate().map(story).collect()
}

pub(crate) fn spec(scenario: &Scenario, folder: &Path, prd_path: &Path, base: &str) -> LoopSpec {
    LoopSpec {
        loop_id: LOOP_ID.to_owned(),
        project: folder.join("project").display().to_string(),
        prd_path: prd_path.display().to_string(),
        base: Commit::new(base).expect("an id"),
        branch: format!("agent-loop/{LOOP_ID}"),
        stories: stories(scenario),
        implementor: "builder".into(),
        judge: "judge".into(),
        ladder: scenario
            .ladder
            .iter()
            .map(|agent| agent.as_str().into())
            .collect(),
        failover: scenario.failover,
        max_retries: scenario.max_retries,
        max_iterations: scenario.max_iterations,
        retry_wait_ms: scenario.retry_wait_secs * 1000,
        budget: None,
        allowance: scenario.allowance(),
        flow: scenario.flow(),
        reviewer: "tester".into(),
        prover: "prover".into(),
        judge_is_chosen: true,
        families: BTreeMap::new(),
        first: None,
        together: scenario.together(),
        settings: serde_json::to_string(&settings(scenario))
            .expect("JSON")
            .into(),
    }
}

fn settings(scenario: &Scenario) -> Settings {
    let agent = |name: &str, stages: &[&str]| AgentSettings {
        command: vec![name.to_owned()],
        pass_env: Vec::new(),
        env: BTreeMap::from([("AGENT".to_owned(), name.to_owned())]),
        timeout_secs: 60,
        idle_secs: None,
        kind: scenario.has_sessions(stages).then(|| "codex".to_owned()),
        program: None,
        args: Vec::new(),
        model: None,
        effort: None,
        files: BTreeMap::new(),
    };
    let agents = [
        ("builder", &["implement"][..]),
        ("other", &["implement"]),
        ("tester", &["write-tests", "review"]),
        ("judge", &["judge", "arbitrate"]),
        ("prover", &["prove"]),
    ];
    Settings {
        warm: home::Warm::Off,
        trees_mb: home::TREES_MB,
        agents: agents
            .iter()
            .map(|(name, stages)| ((*name).to_owned(), agent(name, stages)))
            .collect(),
        checks: vec![CheckSettings {
            name: "test".to_owned(),
            command: "run the tests".to_owned(),
        }],
        check_timeout_secs: 60,
        mutants: 0,
        copy: Vec::new(),
        trees: home::Trees::default(),
        write_back: true,
        subdir: String::new(),
        root: String::new(),
        prd_in_repository: None,
        patterns: None,
        about: None,
        test_paths: vec!["tests/**".to_owned()],
        prompts: BTreeMap::new(),
        prices: Vec::new(),
        policy: Policies::default(),
        secrets_allow: Vec::new(),
        roles: BTreeMap::new(),
        keep_checkouts: false,
        retention_days: 30,
        write_progress: false,
        commit: Some(CommitSettings {
            subject: "feat: {title} ({story}), attempt {attempt}".to_owned(),
            author: Some("Ada Operator <ada@example.org>".to_owned()),
            signed_off_by: None,
            co_author: true,
        }),
        flags: Vec::new(),
        config_mark: None,
        sandbox: None,
    }
}

/// What agents and checks do: as the scenario says, else as honest ones would.
fn script(
    scenario: Scenario,
    objects: Arc<Mutex<Objects>>,
    marks: Arc<Marks>,
) -> Box<crate::memory::Script> {
    Box::new(move |folder, spec| {
        let stage = stage_of(&spec.env["LOOPWRIGHT_STAGE"]);
        let story = spec.env["LOOPWRIGHT_STORY_ID"].clone();
        let attempt: u32 = spec.env["LOOPWRIGHT_ATTEMPT"].parse().expect("a number");
        let agent = spec.env.get("AGENT").cloned().unwrap_or_default();
        let try_number = spec.run_id.rsplit('-').next().expect("a try");
        let case = scenario.case(&Wanted {
            stage,
            story: &story,
            attempt,
            try_number: try_number.parse().expect("a number"),
            agent: &agent,
        });
        let reloaded = scenario.reload.iter().flat_map(|case| &case.story);
        let mut told = scenario.story.iter().chain(reloaded);
        let criteria = told.find(|known| known.id == story);
        let actor = Actor {
            stage,
            story: &story,
            attempt,
            criteria: criteria
                .map(|story| &story.criteria[..])
                .unwrap_or_default(),
            folder,
            spec,
            objects: &objects,
            judged: marks.judged(&story),
        };
        crate::memory::Played {
            ends: actor.act(case),
            ends_after: case.and_then(|case| case.ends_after.clone()),
        }
    })
}

fn stage_of(word: &str) -> Stage {
    [
        Stage::Baseline,
        Stage::Implement,
        Stage::WriteTests,
        Stage::Check,
        Stage::Review,
        Stage::Prove,
        Stage::Judge,
        Stage::Arbitrate,
        Stage::Confirm,
    ]
    .into_iter()
    .find(|stage| stage.word() == word)
    .expect("a stage")
}

struct Actor<'a> {
    stage: Stage,
    story: &'a str,
    attempt: u32,
    criteria: &'a [String],
    folder: &'a Path,
    spec: &'a RunSpec,
    objects: &'a Mutex<Objects>,
    /// The commit that the first PASS on the story was about.
    judged: Option<String>,
}

impl Actor<'_> {
    fn act(&self, case: Option<&RunCase>) -> Ends {
        if self.stage.is_check() {
            self.measure(case.is_some_and(|case| case.warm));
        } else {
            self.write(case);
        }
        let session = case.and_then(|case| case.session.as_deref());
        let ends = case.and_then(|case| case.ends.as_deref()).unwrap_or("exit");
        let exit_code = case.map_or(0, |case| case.exit);
        let says = match case.and_then(|case| case.says.clone()) {
            Some(says) => says,
            None if exit_code == 0 && ends == "exit" => self.usual_answer(),
            None => String::new(),
        };
        let candidate = self.spec.env.get("LOOPWRIGHT_CANDIDATE");
        let says = says.replace("@CANDIDATE@", candidate.map_or("none", |id| id));
        let says = says.replace("@JUDGED@", self.judged.as_deref().unwrap_or("none"));
        let is_cli = self.spec.program != self.spec.env.get("AGENT").cloned().unwrap_or_default()
            && !self.stage.is_check();
        let output = if is_cli {
            codex_lines(session.unwrap_or("s0"), &says, ends == "exit")
        } else {
            says
        };
        fs::write(self.folder.join("stdout"), &output).expect("written");
        fs::write(self.folder.join("stderr"), "").expect("written");
        match ends {
            "exit" => self.exit(ExitCause::Exited, Some(exit_code), &output),
            "timeout" => self.exit(ExitCause::WallTimeout, None, &output),
            "cannot-start" => {
                let why = "no such program".to_owned();
                let is_passing = false;
                self.exit(ExitCause::CannotStart { why, is_passing }, None, &output)
            }
            "lost" => Ends::Lost,
            "reboot" => Ends::Rebooted,
            other => panic!("a run cannot end like `{other}`"),
        }
    }

    fn exit(&self, cause: ExitCause, exit_code: Option<i32>, output: &str) -> Ends {
        Ends::Exit(Box::new(ExitRecord {
            run_id: self.spec.run_id.clone(),
            cause,
            exit_code,
            signal: None,
            started_at_ms: 0,
            ended_at_ms: 0,
            stdout_bytes: output.len() as u64,
            stderr_bytes: 0,
            stdout_dropped: 0,
            stderr_dropped: 0,
            swept: 0,
            found_full: false,
            limit: None,
            refused: Vec::new(),
            requests: 0,
            tokens: None,
            refused_need: None,
        }))
    }

    /// Writes into the checkout what the case says; without one, what an honest author would.
    fn write(&self, case: Option<&RunCase>) {
        let usual = || match self.stage {
            Stage::Implement => BTreeMap::from([(
                format!("src/{}", self.story),
                format!("done {}\n", self.attempt),
            )]),
            Stage::WriteTests => BTreeMap::from([(
                format!("tests/{}", self.story),
                format!("src/{} has done\n", self.story),
            )]),
            _ => BTreeMap::new(),
        };
        let files = match case {
            // A case that only says when a run ends, or how, does not say what it writes.
            Some(case) if case.ends_after.is_some() && case.is_silent() => usual(),
            Some(case) => case.write.clone().unwrap_or_default(),
            None => usual(),
        };
        for (path, text) in files {
            let target = self.spec.cwd.join(path);
            fs::create_dir_all(target.parent().expect("a parent")).expect("made");
            fs::write(target, text).expect("written");
        }
        for path in case.iter().flat_map(|case| &case.remove) {
            let _ = fs::remove_file(self.spec.cwd.join(path));
        }
    }

    fn usual_answer(&self) -> String {
        match self.stage {
            Stage::WriteTests => {
                let criteria: Vec<serde_json::Value> = self
                    .criteria
                    .iter()
                    .map(|criterion| serde_json::json!({ "criterion": criterion, "tests": [format!("tests/{}", self.story)] }))
                    .collect();
                serde_json::json!({ "summary": "tests", "criteria": criteria }).to_string()
            }
            Stage::Review => {
                serde_json::json!({ "summary": "fine", "criteria": [], "findings": [] }).to_string()
            }
            Stage::Judge => {
                let criteria = self.criteria.iter();
                let criteria: Vec<serde_json::Value> = criteria
                    .map(|criterion| serde_json::json!({ "criterion": criterion, "pass": true, "evidence": "seen" }))
                    .collect();
                serde_json::json!({
                    "verdict": "PASS", "commit": "@CANDIDATE@", "reason": "fine", "criteria": criteria
                })
                .to_string()
            }
            Stage::Arbitrate => {
                serde_json::json!({ "fresh_tests": false, "reason": "they stand" }).to_string()
            }
            Stage::Prove => serde_json::json!({
                "checked": ["it works"], "found": [], "mended": [], "see": ["run the tests"]
            })
            .to_string(),
            Stage::Implement | Stage::Baseline | Stage::Check | Stage::Confirm => String::new(),
        }
    }

    /// Does what a check's own process does, by the tests' own small language. A reused build hides
    /// whatever is red with the candidate.
    fn measure(&self, warm: bool) {
        let plan = fs::read(self.folder.join("plan.json")).expect("a plan");
        let plan: CheckPlan = serde_json::from_slice(&plan).expect("a plan");
        let measured = |tree: &Option<String>| tree.as_ref().map(|tree| self.measured(tree));
        let with_candidate = |tree: &Option<String>| {
            let found = measured(tree);
            if warm { found.map(all_green) } else { found }
        };
        let candidate = with_candidate(&plan.trees.candidate);
        let report = Report {
            base: self.measured(&plan.trees.base),
            base_with_tests: measured(&plan.trees.base_with_tests),
            red_looks: measured(&plan.trees.base_with_tests).into_iter().collect(),
            late_looks: measured(&plan.trees.base_with_tests).into_iter().collect(),
            candidate_looks: candidate.iter().cloned().collect(),
            proof_looks: with_candidate(&plan.trees.proof).into_iter().collect(),
            reruns: candidate
                .iter()
                .flat_map(|found| [found.clone(), found.clone()])
                .collect(),
            candidate,
            proof: with_candidate(&plan.trees.proof),
            old_form: with_candidate(&plan.trees.old_form),
            warm,
            ..Report::default()
        };
        let bytes = serde_json::to_vec(&report).expect("JSON");
        fs::write(self.folder.join("measured.json"), bytes).expect("written");
    }

    fn measured(&self, tree: &str) -> Measurement {
        let objects = lock(self.objects);
        let files = objects.files(&TreeId::parse(tree).expect("an id"));
        let text = |path: &Path| {
            let entry = files.get(path)?;
            String::from_utf8(objects.bytes(entry)).ok()
        };
        let mut results = Results::default();
        for path in files.keys().filter(|path| path.starts_with("tests")) {
            let holds = |line: &str| match line.split_once(" has ") {
                Some((path, wanted)) => {
                    text(Path::new(path)).is_some_and(|found| found.contains(wanted))
                }
                None => line.trim().is_empty(),
            };
            let is_green = text(path).unwrap_or_default().lines().all(holds);
            let name = path.display().to_string();
            let occurrence = Occurrence {
                place: Some(name.clone()),
                status: if is_green {
                    TestStatus::Passed
                } else {
                    TestStatus::Failed
                },
                message: (!is_green).then(|| "it does not hold".to_owned()),
            };
            results.tests.insert(name, vec![occurrence]);
        }
        let is_green = results.counts().failed == 0;
        Measurement {
            checks: vec![Measured {
                name: "test".to_owned(),
                exit_code: Some(i32::from(!is_green)),
                results,
                ..Measured::default()
            }],
        }
    }
}

fn all_green(mut measurement: Measurement) -> Measurement {
    for check in &mut measurement.checks {
        check.exit_code = Some(0);
        for test in check.results.tests.values_mut().flatten() {
            (test.status, test.message) = (TestStatus::Passed, None);
        }
    }
    measurement
}

/// What codex prints when it works, answers and ends.
fn codex_lines(session: &str, says: &str, ends: bool) -> String {
    let mut lines = vec![
        serde_json::json!({ "type": "thread.started", "thread_id": session }),
        serde_json::json!({ "type": "item.started", "item": {
            "id": "i0", "type": "command_execution", "command": "true",
            "status": "in_progress" } }),
        serde_json::json!({ "type": "item.completed", "item": {
            "id": "i0", "type": "command_execution", "command": "true", "exit_code": 0,
            "status": "completed" } }),
    ];
    if ends {
        lines.push(serde_json::json!({ "type": "item.completed", "item": {
            "id": "i1", "type": "agent_message", "text": says } }));
        lines.push(serde_json::json!({ "type": "turn.completed", "usage": {
            "input_tokens": 25, "cached_input_tokens": 0, "output_tokens": 5 } }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
