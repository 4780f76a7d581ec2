//! The shipped program kills itself right before or right after each file that a keeper writes,
//! each move of a ref and each change of the operator's file; the loop ends as if it had not.
//!
//! Whoever comes to the named moment dies by `SIGKILL`, worker or keeper; the test starts another
//! worker, as a service manager would. CI tries every kind of moment, the soak
//! (`LOOPWRIGHT_SOAK=1`) every single one.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};

use kernel::{Event, Stage};
use testkit::{CrashSwitch, Random, number};

use crate::crash::{CLOCK_MS, Ending, ending, prepared, records};
use crate::scene::{Scene, processes_with, wait_until};

/// A moment: its words, and the how-manieth of these it is.
type Nth = (String, usize);

fn serve(scene: &Scene, switch: &CrashSwitch) -> Child {
    let mut command = scene.env.command(&["serve"]);
    command
        .env("LOOPWRIGHT_HOME", scene.home())
        .env(CrashSwitch::VARIABLE, switch.folder());
    // Here the test alone says when there is a worker.
    command.env("LOOPWRIGHT_WAKE", "off");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

/// Plays the loop to its end; says how it ended, what its moments were, and how many workers it
/// took.
fn play(at: Option<&Nth>) -> (Ending, Vec<String>, usize) {
    let scene = Scene::new(&["one", "retry-two", "never-three"]);
    let loop_id = prepared(&scene);
    let at = at.map(|(words, nth)| (words.as_str(), *nth));
    let switch = CrashSwitch::new(&scene.env.path("switch"), at, CLOCK_MS);
    let mut worker = serve(&scene, &switch);
    let mut n_workers = 1;
    wait_until("the end of the loop", || {
        if worker.try_wait().expect("a child").is_some() {
            assert!(n_workers < 3, "the worker died more than once");
            worker = serve(&scene, &switch);
            n_workers += 1;
        }
        let records = records(&scene, &loop_id);
        matches!(
            records.last().map(|record| &record.event),
            Some(Event::LoopEnded { .. })
        )
        .then_some(())
    });
    worker.kill().expect("killed");
    worker.wait().expect("ended");
    assert_nothing_is_left(&scene, &loop_id);
    (ending(&scene, &loop_id), switch.moments(), n_workers)
}

fn assert_nothing_is_left(scene: &Scene, loop_id: &str) {
    // A keeper whose exit record is read may still be on its last instructions.
    wait_until("i11: the end of every process", || {
        processes_with(&scene.home().join("loops"))
            .is_empty()
            .then_some(())
    });
    let tries = records(scene, loop_id)
        .iter()
        .filter(|record| matches!(&record.event, Event::RunStarted { run } if run.stage != Stage::Check))
        .count();
    let starts = scene.starts();
    let different: BTreeSet<&String> = starts.iter().collect();
    assert_eq!(
        different.len(),
        starts.len(),
        "an agent was started twice for one try"
    );
    assert!(starts.len() <= tries, "more starts than tries");
}

/// Every moment with its number among those of the same words.
fn numbered(moments: &[String]) -> Vec<Nth> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for words in moments {
        let count = seen.entry(words.clone()).or_default();
        *count += 1;
        all.push((words.clone(), *count));
    }
    all
}

/// One of each kind, the seed says which; records are the business of the test beside this one.
fn sample(all: Vec<Nth>) -> Vec<Nth> {
    let mut random = Random::new(number("LOOPWRIGHT_CRASH_SEED", 3));
    let mut kinds: BTreeMap<String, Vec<Nth>> = BTreeMap::new();
    for moment in all
        .into_iter()
        .filter(|(words, _)| !words.contains("a record"))
    {
        // All candidates are of one kind, whatever story they are of.
        let kind = moment.0.rsplitn(3, '/').last().unwrap_or_default();
        kinds.entry(kind.to_owned()).or_default().push(moment);
    }
    // The branch is moved in two repositories under one name, so both are taken, each the first and
    // the second time.
    let choose = |(kind, moments): (String, Vec<Nth>)| {
        if kind.ends_with("refs/heads") {
            moments
        } else {
            vec![random.pick(&moments).clone()]
        }
    };
    kinds.into_iter().flat_map(choose).collect()
}

#[test]
fn i04_a_crash_around_any_file_or_ref_changes_nothing() {
    if !cfg!(debug_assertions) {
        return println!("skipped: a released program has no crash switch");
    }
    let (calm, moments, n_workers) = play(None);
    assert_eq!(n_workers, 1, "the calm run needs one worker");
    assert!(
        calm.events
            .last()
            .is_some_and(|last| last.contains("2 passed, 1 skipped")),
        "{:?}",
        calm.events
    );
    for expected in [
        "before exit.json",
        "after keeper.json",
        "beside spec.json",
        "after stdout",
        "after the start",
    ] {
        assert!(
            moments.iter().any(|words| words == expected),
            "{expected} is among {moments:?}"
        );
    }
    let all = numbered(&moments);
    let n_all = all.len();
    let chosen = if std::env::var_os("LOOPWRIGHT_SOAK").is_some() {
        all
    } else {
        sample(all)
    };
    println!("{} of {n_all} moments", chosen.len());
    for moment in &chosen {
        let (crashed, passed, n_workers) = play(Some(moment));
        let n_passed = passed.iter().filter(|words| **words == moment.0).count();
        assert!(n_passed >= moment.1, "the program never came to {moment:?}");
        let of_worker = ["refs/", "spec.json", "deed", "record", "operator"]
            .iter()
            .any(|word| moment.0.contains(word));
        assert_eq!(
            n_workers,
            1 + usize::from(of_worker),
            "who died at {moment:?}"
        );
        assert_eq!(crashed, calm, "killed at {moment:?}");
    }
}
