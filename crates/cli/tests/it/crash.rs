//! The power fails at every single moment, and the loop ends as if it had not.
//!
//! A worker is taken from the same state folder again and again. The crash switch cuts it off right
//! before or right after a record is written, or between a deed and its record; keepers and agents
//! go on as they would after a `kill -9`.

use std::path::{Path, PathBuf};

use engine::{Home, Moment, Worker, WorkerError};
use kernel::Event;
use testkit::Moments;

use crate::scene::Scene;

/// Everything that must be the same, however often the power failed.
#[derive(Debug, PartialEq)]
pub(crate) struct Ending {
    pub(crate) events: Vec<String>,
    refs: String,
    published: String,
    prd: String,
}

pub(crate) const CLOCK_MS: i64 = 1_800_000_000_000;

pub(crate) fn prepared(scene: &Scene) -> String {
    prepared_as(scene, "01AAAAAAAAAAAAAAAAAAAAAAAA")
}

pub(crate) fn prepared_as(scene: &Scene, loop_id: &str) -> String {
    prepared_with(scene, loop_id, &[])
}

pub(crate) fn prepared_with(scene: &Scene, loop_id: &str, options: &[&str]) -> String {
    // One loop is recorded through the program; its id is then made a fixed one, so that commits
    // are comparable.
    let project = scene.project().canonicalize().expect("a project");
    let start = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--max-retries",
        "1",
    ];
    let answer = scene
        .env
        .run(&[&start[..], &["--json", "--dry-run"], options].concat());
    let mut spec: kernel::LoopSpec =
        serde_json::from_value(answer.json()["result"]["spec"].clone()).expect("a spec");
    assert!(Path::new(&spec.project) == project);
    loop_id.clone_into(&mut spec.loop_id);
    spec.branch = format!("agent-loop/{}", spec.loop_id);
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    let loop_id = spec.loop_id.clone();
    let event = Event::LoopStarted {
        spec: Box::new(spec),
    };
    let body = serde_json::to_string(&event).expect("JSON");
    let record = journal::NewRecord {
        at_ms: CLOCK_MS,
        kind: event.kind(),
        body: &body,
    };
    journal
        .append(&loop_id, 0, None, &[record])
        .expect("recorded");
    loop_id
}

/// The program, as a keeper that wakes no worker: the test alone says when there is one.
pub(crate) fn quiet_keeper(scene: &Scene) -> PathBuf {
    let program = env!("CARGO_BIN_EXE_loopwright");
    scene.env.write(
        "keeper.sh",
        format!("#!/bin/sh\nLOOPWRIGHT_WAKE=off exec {program} \"$@\"\n"),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scene.env.path("keeper.sh"), mode).expect("mode set");
    scene.env.path("keeper.sh")
}

fn take_worker(scene: &Scene, keeper: &Path) -> Worker {
    let mut worker = Worker::take(Home::at(scene.home()), keeper, 4, 2).expect("a worker");
    worker.set_clock(Box::new(|| CLOCK_MS));
    worker
}

/// Plays the loop to its end; the power fails at the moments that `fails` names, counted over the
/// whole life of the loop.
fn play(fails: impl Fn(usize, Moment) -> bool + Clone + 'static) -> (Ending, usize) {
    let scene = Scene::new(&["one", "retry-two", "never-three"]);
    let loop_id = prepared(&scene);
    let n_moments = play_out(&scene, &loop_id, fails);
    let one_try_each = records(&scene, &loop_id)
        .iter()
        .all(|record| !matches!(&record.event, Event::RunStarted { run } if run.try_number > 1));
    assert!(one_try_each, "only the worker died: no run is tried again");
    (ending(&scene, &loop_id), n_moments)
}

/// Plays a loop that is prepared to its end; says how many moments that took.
pub(crate) fn play_out(
    scene: &Scene,
    loop_id: &str,
    fails: impl Fn(usize, Moment) -> bool + Clone + 'static,
) -> usize {
    let keeper = quiet_keeper(scene);
    let moments = Moments::default();
    let mut crashes = 0;
    loop {
        let mut worker = take_worker(scene, &keeper);
        worker.set_crash_switch(moments.switch(fails.clone()));
        let ended = worker.run(|worker, _| {
            worker
                .loaded(loop_id)
                .is_some_and(|loaded| loaded.state.ended().is_some())
        });
        match ended {
            Ok(()) => break,
            Err(WorkerError::Crashed) => crashes += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(crashes < 1_000, "the loop does not end");
    }
    assert_one_start_per_run(scene, loop_id);
    moments.count()
}

pub(crate) fn records(scene: &Scene, loop_id: &str) -> Vec<kernel::Stamped> {
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    engine::load(&journal, loop_id).expect("a loop").records
}

fn assert_one_start_per_run(scene: &Scene, loop_id: &str) {
    let records = records(scene, loop_id);
    let tries = records
        .iter()
        .filter(
            |record| matches!(&record.event, Event::RunStarted { run } if !run.stage.is_check()),
        )
        .count();
    let mut starts = scene.starts();
    assert_eq!(starts.len(), tries, "every agent was started exactly once");
    starts.sort();
    starts.dedup();
    assert_eq!(
        starts.len(),
        tries,
        "no agent was started twice under one name"
    );
}

pub(crate) fn ending(scene: &Scene, loop_id: &str) -> Ending {
    let records = records(scene, loop_id);
    let project = scene.project().display().to_string();
    let plain = |event: views::PublicEvent| {
        format!("{} {}", event.name, event.data)
            .replace(&project, "PROJECT")
            .replace(&scene.home().display().to_string(), "HOME")
    };
    let repository = scene.home().join("loops").join(loop_id).join("repo.git");
    Ending {
        events: views::public_events(&records)
            .into_iter()
            .map(plain)
            .collect(),
        refs: testkit::git(&repository, &["for-each-ref"]),
        published: scene.git(&["for-each-ref", "refs/heads"]),
        prd: scene.env.read("project/prd.json"),
    }
}

#[test]
fn i04_a_crash_at_any_moment_changes_nothing() {
    let (calm, moments) = play(|_, _| false);
    assert!(moments > 60, "the scenario has its moments: {moments}");
    assert!(
        calm.events
            .last()
            .is_some_and(|last| last.contains("2 passed, 1 skipped")),
        "{:?}",
        calm.events
    );
    // CI tries every fifth moment, the soak all of them.
    let all = std::env::var_os("LOOPWRIGHT_SOAK").is_some();
    let step = if all { 1 } else { 5 };
    for moment in (1..=moments).step_by(step) {
        let (crashed, _) = play(move |count, _| count == moment);
        assert_eq!(
            crashed, calm,
            "the power failed at moment {moment} of {moments}"
        );
    }
}

#[test]
fn i04_crashes_at_every_record_in_a_row_change_nothing() {
    let (calm, _) = play(|_, _| false);
    for wanted in [Moment::AfterRecord, Moment::AfterDeed] {
        // Every worker lives for exactly one record, or one deed.
        let (crashed, _) = play(move |count, moment| moment == wanted && count % 2 == 0);
        assert_eq!(crashed, calm, "the power failed at every second {wanted:?}");
    }
}
