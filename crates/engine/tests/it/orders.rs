//! An order is complete: written to a file, read by another process and carried out there, it gives
//! what it gives here.
//!
//! The other process is this very test binary, started again for one order. Its ports are the real
//! ones, git and files; only agents are not run, since an order that starts one would start it here
//! and there.

use std::collections::BTreeMap;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engine::{Fault, GitRepositories, Look, Ports, Runs, carry_out};
use home::Home;
use kernel::{Deed, Event, Order, Stamped, State, decide};
use sandbox::{ExitCause, ExitRecord, Output, RunSpec, Stream};
use serde_json::json;
use workspace::CommitId;

use crate::scenario::Scenario;

const VARIABLE: &str = "LOOPWRIGHT_TEST_ORDER";
const CLOCK_MS: i64 = 1_800_000_000_000;
const LOOP_ID: &str = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/// Stories whose way comes by every kind of order: one passes, one is skipped, one is blocked.
const STORIES: &str = r#"
about = "every kind of order"
class = "calm"
flow = "quartet"
max_retries = 0
[[story]]
id = "one"
[[story]]
id = "never"
[[story]]
id = "after"
depends_on = ["never"]
[expect]
status = "completed"
"#;

/// Runs whose whole state is a file in their folder, so that every process sees the same.
struct FileRuns;

impl Runs for FileRuns {
    fn prepare(&self, folder: &Path, spec: &RunSpec) -> Result<(), Fault> {
        sandbox::prepare(folder, spec).map_err(|error| Fault::keeper(folder, error))
    }

    fn launch(&self, folder: &Path) -> Result<(), Fault> {
        fs::write(folder.join("launched"), "").map_err(|error| Fault::io("write", folder, error))
    }

    fn look(&self, folder: &Path) -> Result<Look, Fault> {
        if let Ok(exit) = fs::read(folder.join("exit.json")) {
            return Ok(Look::Ended(serde_json::from_slice(&exit)?));
        }
        if folder.join("launched").exists() {
            return Ok(Look::Running);
        }
        let is_prepared = folder.join("spec.json").exists();
        Ok(if is_prepared {
            Look::Prepared
        } else {
            Look::Unprepared
        })
    }

    fn stop(&self, folder: &Path, _reason: &str) -> Result<(), Fault> {
        end(folder, "", ExitCause::Stopped);
        Ok(())
    }

    fn sweep(&self, _folder: &Path) -> Result<(), Fault> {
        Ok(())
    }

    fn output(&self, folder: &Path, stream: Stream) -> Output {
        sandbox::output(folder, stream).unwrap_or_default()
    }
}

/// Ends a run as its keeper would.
fn end(folder: &Path, says: &str, cause: ExitCause) {
    let exit = ExitRecord {
        run_id: String::new(),
        exit_code: (cause == ExitCause::Exited).then_some(0),
        cause,
        signal: None,
        started_at_ms: 0,
        ended_at_ms: 0,
        stdout_bytes: says.len() as u64,
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
    };
    fs::write(folder.join("stdout"), says).expect("written");
    fs::write(
        folder.join("exit.json"),
        serde_json::to_vec(&exit).expect("JSON"),
    )
    .expect("written");
}

fn ports(root: &Path) -> Ports {
    let home = Home::at(root.join("home"));
    Ports {
        program: PathBuf::from("loopwright"),
        clock: Arc::new(|| CLOCK_MS),
        runs: Box::new(FileRuns),
        repositories: Box::new(GitRepositories::new(home.clone())),
        home,
    }
}

/// The other process: carries out the order in the named file and writes down what came of it.
#[test]
fn an_order_is_carried_out_in_another_process() {
    let Some(root) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        // Without the variable this is the test itself.
        return every_kind_of_order_gives_the_same_elsewhere();
    };
    let order = fs::read(root.join("order.json")).expect("an order");
    let order: Order = serde_json::from_slice(&order).expect("an order");
    let event = carry_out(&order, &ports(&root)).map_err(|fault| fault.words());
    let text = serde_json::to_vec(&event).expect("JSON");
    fs::write(root.join("event.json"), text).expect("written");
}

fn carry_out_elsewhere(order: &Order, root: &Path) -> Result<Option<Event>, String> {
    fs::write(
        root.join("order.json"),
        serde_json::to_vec(order).expect("JSON"),
    )
    .expect("written");
    let status = Command::new(std::env::current_exe().expect("this binary"))
        .args([
            "--exact",
            "orders::an_order_is_carried_out_in_another_process",
        ])
        .env(VARIABLE, root)
        .output()
        .expect("started");
    assert!(
        status.status.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr)
    );
    serde_json::from_slice(&fs::read(root.join("event.json")).expect("an event")).expect("JSON")
}

/// A project and a loop on it, on a real disk.
struct Stage {
    root: tempfile::TempDir,
    state: State,
    /// The kinds of orders that were carried out.
    seen: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let project = root.path().join("project");
        fs::create_dir_all(project.join("tests")).expect("made");
        fs::write(project.join("tests/base"), "base\n").expect("written");
        fs::write(project.join("prd.json"), PRD).expect("written");
        testkit::init(&project, &["tests/base", "prd.json"]);
        let base = testkit::git(&project, &["rev-parse", "HEAD"]);
        let scenario = Scenario::parse("orders", STORIES);
        let mut spec = crate::play::spec(&scenario, root.path(), &project.join("prd.json"), &base);
        let mut settings: home::Settings = serde_json::from_str(&spec.settings).expect("settings");
        settings.root = project.display().to_string();
        settings.prd_in_repository = Some("prd.json".to_owned());
        spec.settings = serde_json::to_string(&settings).expect("JSON").into();
        let first = Stamped {
            at_ms: CLOCK_MS,
            event: Event::LoopStarted {
                spec: Box::new(spec),
            },
        };
        Self {
            root,
            state: State::begin(&first).expect("a first state"),
            seen: BTreeMap::new(),
        }
    }

    fn branch_lock(&self) -> PathBuf {
        let branch = format!("project/.git/refs/heads/agent-loop/{LOOP_ID}.lock");
        self.root.path().join(branch)
    }

    fn run_folder(&self, order: &Order) -> Option<PathBuf> {
        let run = order.run()?;
        let mut stories = self.state.stories().iter();
        let number = stories.position(|story| story.spec.id == run.story)?;
        let name = home::RunName::numbered(number + 1, run);
        let home = Home::at(self.root.path().join("home"));
        Some(home.run_folder(LOOP_ID, &name))
    }

    fn record(&mut self, event: Event) {
        let record = Stamped {
            at_ms: CLOCK_MS,
            event,
        };
        self.state.apply(&record).expect("a legal move");
    }

    /// Carries an order out in a copy of the world elsewhere, then here, and compares both.
    ///
    /// An order to run something is carried out again until the run is over. CI looks at the first two of
    /// each kind, and of each way that the run can stand; the soak looks at all.
    fn compare(&mut self, order: &Order) -> Option<Event> {
        const OF_A_KIND: usize = 2;
        let looks = self.run_folder(order).map(|folder| FileRuns.look(&folder));
        let looks = format!(
            "{:?}",
            looks.map(|look| look.ok().map(|look| mem::discriminant(&look)))
        );
        let n_seen = self
            .seen
            .entry(kind(order))
            .or_default()
            .entry(looks)
            .or_default();
        *n_seen += 1;
        if *n_seen > OF_A_KIND && !testkit::is_soak() {
            return carry_out(order, &ports(self.root.path())).expect("carried out here");
        }
        let copy = tempfile::tempdir().expect("a folder");
        copy_folder(self.root.path(), copy.path());
        let there = order_in(order, self.root.path(), copy.path());
        let elsewhere = carry_out_elsewhere(&there, copy.path()).expect("carried out elsewhere");
        let here = carry_out(order, &ports(self.root.path())).expect("carried out here");
        let text = |event: &Option<Event>, root: &Path| {
            let text = serde_json::to_string(event).expect("JSON");
            text.replace(&root.display().to_string(), "ROOT")
        };
        assert_eq!(
            text(&elsewhere, copy.path()),
            text(&here, self.root.path()),
            "{}",
            order.key()
        );
        assert_eq!(
            refs(copy.path()),
            refs(self.root.path()),
            "refs after {}",
            order.key()
        );
        here
    }
}

const PRD: &str = r#"{ "stories": [
  { "id": "one", "title": "Story one", "passes": false },
  { "id": "never", "title": "Story never", "passes": false },
  { "id": "after", "title": "Story after", "passes": false, "depends_on": ["never"] }
] }
"#;

/// The order as it would be given in a folder elsewhere.
fn order_in(order: &Order, from: &Path, to: &Path) -> Order {
    let text = serde_json::to_string(order).expect("JSON");
    let (from, to) = (from.display().to_string(), to.display().to_string());
    serde_json::from_str(&text.replace(&from, &to)).expect("an order")
}

fn refs(root: &Path) -> String {
    let repository = Home::at(root.join("home")).repository(LOOP_ID);
    if !repository.exists() {
        return String::new();
    }
    testkit::git(&repository, &["for-each-ref"])
}

fn kind(order: &Order) -> String {
    let text = serde_json::to_value(&order.deed).expect("JSON");
    let deed = text["deed"].as_str().expect("a kind").to_owned();
    match (&order.deed, order.run()) {
        (Deed::Run(_), Some(run)) => format!("{deed} {}", run.stage.word()),
        _ => deed,
    }
}

fn copy_folder(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .args(["-a", "--"])
        .arg(from.join("."))
        .arg(to)
        .status();
    assert!(status.expect("cp runs").success());
}

/// What an agent or a check does once it was launched.
fn act(order: &Order, stage: &Stage) {
    let Some(run) = order.run() else { return };
    let home = Home::at(stage.root.path().join("home"));
    let number = stage
        .state
        .stories()
        .iter()
        .position(|story| story.spec.id == run.story)
        .expect("a story");
    let name = home::RunName::numbered(number + 1, run);
    let folder = home.run_folder(LOOP_ID, &name);
    let checkout = home.checkout(LOOP_ID, &name);
    if !folder.join("launched").exists() || folder.join("exit.json").exists() {
        return;
    }
    let id = &run.story;
    let says = match run.stage {
        kernel::Stage::Implement => {
            fs::write(checkout.join(format!("{id}.txt")), "work\n").expect("written");
            String::new()
        }
        kernel::Stage::WriteTests => {
            fs::write(checkout.join(format!("tests/{id}")), "test\n").expect("written");
            r#"{"summary": "s", "criteria": [{"criterion": "it works", "tests": ["t"]}]}"#
                .to_owned()
        }
        kernel::Stage::Review => r#"{"summary": "s", "criteria": [], "findings": []}"#.to_owned(),
        kernel::Stage::Judge => {
            let Deed::Run(order) = &order.deed else {
                return;
            };
            let verdict = if *id == "never" { "FAIL" } else { "PASS" };
            let commit = order.candidate.as_ref().expect("a candidate");
            let criteria = order.story.criteria.iter();
            let criteria: Vec<_> = criteria
                .map(|each| json!({ "criterion": each, "pass": true, "evidence": "seen" }))
                .collect();
            let answer = json!({ "verdict": verdict, "commit": commit.as_str(), "reason": "r", "criteria": criteria });
            answer.to_string()
        }
        kernel::Stage::Baseline | kernel::Stage::Check => {
            measure(&folder);
            String::new()
        }
        other => panic!("{} does not come", other.word()),
    };
    end(&folder, &says, ExitCause::Exited);
}

/// A check's own process: every test is green, and the new one was red before.
fn measure(folder: &Path) {
    let plan = fs::read(folder.join("plan.json")).expect("a plan");
    let plan: engine::CheckPlan = serde_json::from_slice(&plan).expect("a plan");
    let tree = |tests: &[(&str, bool)]| {
        let mut results = checks::results::Results::default();
        for (name, is_green) in tests {
            let status = if *is_green {
                checks::results::TestStatus::Passed
            } else {
                checks::results::TestStatus::Failed
            };
            let occurrence = checks::results::Occurrence {
                place: Some((*name).to_owned()),
                status,
                message: None,
            };
            results.tests.insert((*name).to_owned(), vec![occurrence]);
        }
        checks::compare::Measurement {
            checks: vec![checks::compare::Measured {
                name: "test".to_owned(),
                exit_code: Some(i32::from(tests.iter().any(|(_, is_green)| !is_green))),
                results,
                ..checks::compare::Measured::default()
            }],
        }
    };
    let file = plan.files.writer.first().cloned().unwrap_or_default();
    let has_candidate = plan.trees.candidate.is_some();
    let with_tests = has_candidate.then(|| tree(&[("tests/base", true), (&file, false)]));
    let candidate = has_candidate.then(|| tree(&[("tests/base", true), (&file, true)]));
    let report = engine::Report {
        base: tree(&[("tests/base", true)]),
        red_looks: with_tests.iter().cloned().collect(),
        late_looks: with_tests.iter().cloned().collect(),
        base_with_tests: with_tests,
        candidate_looks: candidate.iter().cloned().collect(),
        candidate,
        ..engine::Report::default()
    };
    let bytes = serde_json::to_vec(&report).expect("JSON");
    fs::write(folder.join("measured.json"), bytes).expect("written");
}

fn every_kind_of_order_gives_the_same_elsewhere() {
    let mut stage = Stage::new();
    play_out(&mut stage);
    hand_in(&mut stage, "never");
    play_out(&mut stage);
    let skipped = stage.state.story("never").expect("a story");
    stage.record(Event::AcceptRequested {
        story: "never".into(),
        commit: skipped.rejected.last().expect("a candidate").commit.clone(),
        by: "Ada".to_owned(),
        reason: None,
    });
    play_out(&mut stage);
    let has_passed = |story: &kernel::StoryProgress| story.has_passed();
    assert!(stage.state.stories().iter().all(has_passed), "all landed");
    restack(&mut stage, "never");
    retract(&mut stage, "never");
    stop_and_wait(&mut stage);
    let expected = [
        "announce",
        "block",
        "end",
        "integrate",
        "make-accepted",
        "make-candidate",
        "make-tests",
        "plan",
        "prepare",
        "publish",
        "restack",
        "retract",
        "run baseline",
        "run check",
        "run implement",
        "run judge",
        "run review",
        "run write-tests",
        "skip",
        "start-run",
        "stop-run",
        "wait",
    ];
    let seen: Vec<&str> = stage.seen.keys().map(String::as_str).collect();
    assert_eq!(seen, expected);
}

/// A candidate of a story is put onto the head, as it would be if it had been proven while others
/// landed.
fn restack(stage: &mut Stage, story: &str) {
    let spec = stage.state.spec();
    let progress = stage.state.story(story).expect("a story");
    let from = progress
        .rejected
        .first()
        .expect("a candidate")
        .commit
        .clone();
    let order = Order {
        loop_id: spec.loop_id.clone(),
        project: spec.project.clone(),
        settings: std::sync::Arc::clone(&spec.settings),
        deed: Deed::Restack(Box::new(kernel::RestackOrder {
            story: story.into(),
            attempt: 1,
            round: 1,
            what: kernel::Restackable::Candidate,
            from: from.clone(),
            onto: stage.state.head().clone(),
            planned_at_ms: CLOCK_MS,
            notes: Vec::new(),
            tests: progress.tests.clone(),
            is_accepted: false,
        })),
    };
    let Some(Event::Restacked { commit, onto, .. }) = stage.compare(&order) else {
        panic!("it fits onto the head");
    };
    let repository = Home::at(stage.root.path().join("home")).repository(LOOP_ID);
    let shown = |format: &str| {
        let format = format!("--format={format}");
        testkit::git(&repository, &["log", "-1", &format, commit.as_str()])
    };
    assert_eq!(shown("%P").trim(), onto.as_str());
    assert!(shown("%B").contains(&format!("Restacked-From: {from}")));
}

/// A branch goes back from its head, as it would if that were red with everything built anew.
fn retract(stage: &mut Stage, story: &str) {
    let spec = stage.state.spec();
    let (from, to) = (stage.state.head().clone(), spec.base.clone());
    let repository = Home::at(stage.root.path().join("home")).repository(LOOP_ID);
    let aside = "refs/heads/agent-loop/aside";
    testkit::git(&repository, &["update-ref", aside, from.as_str()]);
    let order = Order {
        loop_id: spec.loop_id.clone(),
        project: spec.project.clone(),
        settings: std::sync::Arc::clone(&spec.settings),
        deed: Deed::Retract(Box::new(kernel::RetractOrder {
            story: story.into(),
            attempt: 1,
            branch: "agent-loop/aside".to_owned(),
            from: from.clone(),
            commit: from,
            to: to.clone(),
            why: "a test is red".to_owned(),
        })),
    };
    let event = stage.compare(&order);
    assert!(matches!(event, Some(Event::Retracted { .. })), "{event:?}");
    let there = testkit::git(&repository, &["rev-parse", aside]);
    assert_eq!(there.trim(), to.as_str());
}

/// A person takes a story after the end and hands in a commit of theirs.
fn hand_in(stage: &mut Stage, story: &str) {
    let project = stage.root.path().join("project");
    let head = stage.state.head().as_str().to_owned();
    testkit::git(&project, &["checkout", "--quiet", "--detach", &head]);
    fs::write(project.join("by-hand.txt"), "work\n").expect("written");
    testkit::git(&project, &["add", "by-hand.txt"]);
    testkit::git(&project, &["commit", "--quiet", "-m", "by hand"]);
    let commit = testkit::git(&project, &["rev-parse", "HEAD"]);
    let by = "Ada".to_owned();
    stage.record(Event::TakeRequested {
        story: story.into(),
        by: by.clone(),
        folder: None,
    });
    stage.record(Event::HandedIn {
        story: story.into(),
        commit: kernel::Commit::new(commit.trim()).expect("a commit"),
        by,
    });
}

/// Carries out everything that is owed, here and elsewhere, until the loop is over.
fn play_out(stage: &mut Stage) {
    for _ in 0..400 {
        let orders = decide(&stage.state);
        let Some(order) = orders.first().cloned() else {
            break;
        };
        act(&order, stage);
        // Somebody holds the branch's lock while the story is announced: it is published later.
        let locks_branch = matches!(order.deed, Deed::Announce { .. });
        if locks_branch {
            fs::create_dir_all(stage.branch_lock().parent().expect("a folder")).expect("made");
            fs::write(stage.branch_lock(), "").expect("locked");
        }
        match stage.compare(&order) {
            Some(event) => stage.record(event),
            None => act(&order, stage),
        }
        if locks_branch {
            fs::remove_file(stage.branch_lock()).expect("unlocked");
        }
    }
    assert!(stage.state.ended().is_some(), "the loop ends");
}

/// A cancel in the middle of a run, and a wait, which the calm loop does not come by.
fn stop_and_wait(calm: &mut Stage) {
    let mut stage = Stage::new();
    for _ in 0..8 {
        let order = decide(&stage.state).remove(0);
        if matches!(&order.deed, Deed::Run(run) if run.place.run.stage == kernel::Stage::Implement)
        {
            break;
        }
        act(&order, &stage);
        if let Some(event) = stage.compare(&order) {
            stage.record(event);
        }
    }
    let order = decide(&stage.state).remove(0);
    let run = order.run().expect("a run").clone();
    let mut waiting = Stage {
        root: tempfile::tempdir().expect("a folder"),
        state: stage.state.clone(),
        seen: BTreeMap::new(),
    };
    waiting.record(Event::RunEnded {
        run,
        outcome: kernel::RunOutcome::fault(kernel::FaultCause::Network, "away"),
        usage: None,
        walls: kernel::Walls::default(),
    });
    let orders = decide(&waiting.state);
    let wait = orders
        .iter()
        .find(|order| matches!(order.deed, Deed::Wait(_)));
    waiting.compare(wait.expect("a wait"));
    // Started, and then cancelled while it works.
    stage.compare(&order);
    stage.record(Event::CancelRequested {
        reason: "enough".to_owned(),
    });
    let stop = decide(&stage.state).remove(0);
    stage.compare(&stop);
    calm.seen.extend(stage.seen);
    calm.seen.extend(waiting.seen);
}

#[test]
fn a_retraction_finds_a_landing_that_was_not_recorded_and_nothing_else() {
    let stage = Stage::new();
    let ports = ports(stage.root.path());
    let base = stage.state.spec().base.clone();
    let id = CommitId::parse(base.as_str()).expect("an id");
    let project = stage.root.path().join("project");
    fs::create_dir_all(ports.home.loop_folder(LOOP_ID)).expect("made");
    ports
        .repositories
        .create(LOOP_ID, &project, &id)
        .expect("a repository");
    let repository = ports.repositories.open(LOOP_ID).expect("opened");
    let tree = repository.tree_of(&id).expect("a tree");
    let commit = |on: &CommitId, message: &str| {
        let made = repository.commit(&tree, on, message, 0);
        made.expect("made")
    };
    let red = commit(&id, "red");
    let above = commit(&red, "above");
    let unrecorded = commit(&above, "unrecorded");
    let theirs = commit(&unrecorded, "somebody else's");
    let branch = format!("refs/heads/agent-loop/{LOOP_ID}");
    let to_commit = |id: &CommitId| kernel::Commit::new(id.as_str()).expect("an id");
    let order = Order {
        loop_id: LOOP_ID.to_owned(),
        project: project.display().to_string(),
        settings: Arc::clone(&stage.state.spec().settings),
        deed: Deed::Retract(Box::new(kernel::RetractOrder {
            story: "one".into(),
            attempt: 1,
            branch: format!("agent-loop/{LOOP_ID}"),
            from: to_commit(&above),
            commit: to_commit(&red),
            to: base,
            why: String::new(),
        })),
    };
    let mut before: Option<CommitId> = None;
    for (at, is_taken) in [
        (&above, true),
        (&id, true),
        (&unrecorded, true),
        (&theirs, false),
    ] {
        repository
            .move_ref(&branch, before.as_ref(), at)
            .expect("moved");
        let result = carry_out(&order, &ports);
        assert_eq!(result.is_ok(), is_taken, "{at}: {result:?}");
        before = repository.read_ref(&branch).expect("read");
        let expected = if is_taken { &id } else { at };
        assert_eq!(before.as_ref(), Some(expected), "{at}");
    }
}

#[test]
fn a_ref_that_moved_needs_a_person() {
    let stage = Stage::new();
    let ports = ports(stage.root.path());
    let base = stage.state.spec().base.clone();
    let id = CommitId::parse(base.as_str()).expect("an id");
    let project = stage.root.path().join("project");
    fs::create_dir_all(ports.home.loop_folder(LOOP_ID)).expect("made");
    ports
        .repositories
        .create(LOOP_ID, &project, &id)
        .expect("a repository");
    let repository = ports.repositories.open(LOOP_ID).expect("opened");
    let tree = repository.tree_of(&id).expect("a tree");
    let commit = |message: &str| repository.commit(&tree, &id, message, 0).expect("made");
    let (theirs, ours) = (commit("theirs"), commit("ours"));
    let branch = format!("refs/heads/agent-loop/{LOOP_ID}");
    repository.move_ref(&branch, None, &theirs).expect("moved");
    let to_commit = |id: &CommitId| kernel::Commit::new(id.as_str()).expect("an id");
    let order = Order {
        loop_id: LOOP_ID.to_owned(),
        project: project.display().to_string(),
        settings: Arc::clone(&stage.state.spec().settings),
        deed: Deed::Integrate {
            story: "one".into(),
            attempt: 1,
            branch: format!("agent-loop/{LOOP_ID}"),
            from: base.clone(),
            base,
            to: to_commit(&ours),
        },
    };
    let fault = carry_out(&order, &ports).expect_err("the branch is elsewhere");
    assert!(
        matches!(fault, Fault::NeedsPerson { .. }),
        "{}",
        fault.words()
    );
    let words: BTreeMap<&str, bool> = ["put it back", "cancel the loop"]
        .map(|hint| (hint, fault.words().contains(hint)))
        .into();
    assert!(words.values().all(|is_said| *is_said), "{}", fault.words());
    // The branch is where it should be, and the commit does not stand on it: nothing moves.
    let mut left_behind = order;
    if let Deed::Integrate { from, .. } = &mut left_behind.deed {
        *from = to_commit(&theirs);
    }
    let fault = carry_out(&left_behind, &ports).expect_err("it would undo what landed");
    assert!(
        fault.words().contains("does not stand on"),
        "{}",
        fault.words()
    );
    let there = repository.read_ref(&branch).expect("read");
    assert_eq!(there, Some(theirs));
}
