//! The program kills itself right before or right after each file that a keeper writes, each move
//! of a ref and each change of the operator's file; the loop ends as if it had not.
//!
//! Whoever comes to the named moment dies by `SIGKILL`, worker or keeper; the test starts another
//! worker, as a service manager would. CI tries one moment of every kind, the soak
//! (`LOOPWRIGHT_SOAK=1`) every single one. A released program has no crash switch, so there these
//! tests do not exist.
#![cfg(debug_assertions)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use kernel::Event;
use testkit::CrashSwitch;

use crate::flow_scene::flow_scene;
use crate::prepared::{CLOCK_MS, prepared_with, records};
use crate::sample::sample;
use crate::scene::{Scene, processes_with, wait_until};

/// Everything that must be the same, whoever died.
#[derive(Debug, PartialEq)]
struct Ending {
    events: Vec<String>,
    refs: String,
    published: String,
    prd: String,
}

/// A moment: its words, and its ordinal among those of the same words, starting at 1.
pub(crate) type Nth = (String, usize);

/// What came of one play.
struct Played {
    ending: Ending,
    moments: Vec<String>,
    n_workers: usize,
}

/// A worker whose moments are counted, and that nobody else starts again.
pub(crate) fn worker(scene: &Scene, switch: &CrashSwitch) -> Command {
    let mut command = scene.env.command(&["serve"]);
    command
        .env("LOOPWRIGHT_HOME", scene.home())
        .env(CrashSwitch::VARIABLE, switch.folder());
    // Here the test alone says when there is a worker.
    command.env("LOOPWRIGHT_WAKE", "off");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Has workers serve a loop to its end, another one for each that dies, and says how many there were.
pub(crate) fn served(scene: &Scene, mut worker: Command) -> usize {
    let mut serving = worker.spawn().expect("started");
    let mut n_workers = 1;
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    wait_until("the end of the loop", || {
        if serving.try_wait().expect("a child").is_some() {
            assert!(n_workers < 3, "the worker died more than once");
            serving = worker.spawn().expect("started");
            n_workers += 1;
        }
        let heads = journal.heads().expect("a journal");
        let is_over = |head: &journal::LoopHead| head.last_kind.as_deref() == Some("loop-ended");
        heads.iter().all(is_over).then_some(())
    });
    serving.kill().expect("killed");
    serving.wait().expect("ended");
    n_workers
}

/// Plays the loop to its end. Each of these stories has tests that are written again and an attempt
/// that fails, so one of them meets every kind of moment.
fn play(at: Option<&Nth>) -> Played {
    let scene = flow_scene("quartet", &sample("stories", &["vague", "fussy"]));
    let options = ["--flow", "quartet"];
    let loop_id = prepared_with(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA", &options);
    let at = at.map(|(words, nth)| (words.as_str(), *nth));
    let switch = CrashSwitch::new(&scene.env.path("switch"), at, CLOCK_MS);
    let n_workers = served(&scene, worker(&scene, &switch));
    assert_nothing_is_left(&scene, &loop_id);
    Played {
        ending: ending(&scene, &loop_id),
        moments: switch.moments(),
        n_workers,
    }
}

fn ending(scene: &Scene, loop_id: &str) -> Ending {
    let project = scene.project().display().to_string();
    let plain = |event: views::PublicEvent| {
        format!("{} {}", event.name, event.data)
            .replace(&project, "PROJECT")
            .replace(&scene.home().display().to_string(), "HOME")
    };
    let repository = scene.home().join("loops").join(loop_id).join("repo.git");
    Ending {
        events: views::public_events(&records(scene, loop_id))
            .into_iter()
            .map(plain)
            .collect(),
        refs: testkit::git(&repository, &["for-each-ref"]),
        published: scene.git(&["for-each-ref", "refs/heads"]),
        prd: scene.env.read("project/prd.json"),
    }
}

fn assert_nothing_is_left(scene: &Scene, loop_id: &str) {
    // A keeper whose exit record is read may still be on its last instructions.
    wait_until("i11: the end of every process", || {
        processes_with(&scene.home().join("loops"))
            .is_empty()
            .then_some(())
    });
    let is_try = |record: &&kernel::Stamped| matches!(&record.event, Event::RunStarted { run } if !run.stage.is_check());
    let tries = records(scene, loop_id).iter().filter(is_try).count();
    let starts = scene.starts();
    let different: BTreeSet<&String> = starts.iter().collect();
    assert_eq!(
        different.len(),
        starts.len(),
        "an agent was started twice for one try"
    );
    assert!(starts.len() <= tries, "more starts than tries");
}

/// The moments by kind, each with its ordinal among those of the same words.
pub(crate) fn by_kind(moments: &[String]) -> BTreeMap<String, Vec<Nth>> {
    let mut seen: BTreeMap<&String, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<Nth>> = BTreeMap::new();
    for words in moments {
        let count = seen.entry(words).or_default();
        *count += 1;
        kinds
            .entry(kind(words))
            .or_default()
            .push((words.clone(), *count));
    }
    // Records are the business of the plays in memory.
    kinds.retain(|kind, _| !kind.ends_with("a record"));
    kinds
}

/// All candidates are of one kind, whatever story and attempt they are of.
fn kind(words: &str) -> String {
    match words.split_once("refs/") {
        Some((when, name)) => {
            let family: Vec<&str> = name.split('/').take(2).collect();
            let family = if family[0] == "heads" {
                &family[..1]
            } else {
                &family[..]
            };
            format!("{when}refs/{}", family.join("/"))
        }
        None => words.to_owned(),
    }
}

/// The calm play, and every kind of moment that it has.
struct Calm {
    ending: Ending,
    kinds: BTreeMap<String, Vec<Nth>>,
}

fn calm() -> Calm {
    let Played {
        ending,
        moments,
        n_workers,
    } = play(None);
    assert_eq!(n_workers, 1, "the calm play needs one worker");
    let last = ending.events.last().map_or("", String::as_str);
    assert!(last.contains(" passed, 0 skipped"), "{:?}", ending.events);
    Calm {
        ending,
        kinds: by_kind(&moments),
    }
}

/// Dies at the chosen moments of these kinds, each in a play of its own. Much of a play is waiting,
/// so two go at once.
fn dies_at_each(calm: &Calm, kinds: &[&str], is_of_worker: bool) {
    let mut chosen = Vec::new();
    for kind in kinds {
        let of_kind = ["before", "after", "beside"].map(|when| format!("{when} {kind}"));
        let moments: Vec<Nth> = of_kind
            .iter()
            .filter_map(|name| calm.kinds.get(name))
            .flatten()
            .cloned()
            .collect();
        if !moments.is_empty() {
            chosen.extend(sample(kind, &moments));
        }
    }
    let (some, others) = chosen.split_at(chosen.len() / 2);
    let play_all = |moments: &[Nth]| {
        for moment in moments {
            dies_at(&calm.ending, moment, is_of_worker);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| play_all(some));
        play_all(others);
    });
}

fn dies_at(calm: &Ending, moment: &Nth, is_of_worker: bool) {
    let played = play(Some(moment));
    let is_same = |words: &&String| **words == moment.0;
    let n_passed = played.moments.iter().filter(is_same).count();
    assert!(n_passed >= moment.1, "the program never came to {moment:?}");
    assert_eq!(
        played.n_workers,
        1 + usize::from(is_of_worker),
        "who died at {moment:?}"
    );
    assert_eq!(&played.ending, calm, "killed at {moment:?}");
}

/// What a worker writes.
const OF_WORKER: [&str; 8] = [
    "spec.json",
    "the operator's file",
    "refs/heads",
    "refs/loopwright/base",
    "refs/loopwright/candidates",
    "refs/loopwright/code",
    "refs/loopwright/tests",
    "refs/loopwright/written",
];

/// What a keeper writes or does: how its run begins, and how it ends.
const OF_KEEPER: [[&str; 3]; 2] = [
    ["keeper.lock", "keeper.json", "the start"],
    ["stdout", "stderr", "exit.json"],
];

#[test]
fn i04_a_crash_around_any_file_or_ref_changes_nothing() {
    let calm = calm();
    let known: Vec<&str> = OF_WORKER
        .into_iter()
        .chain(OF_KEEPER.into_iter().flatten())
        .collect();
    let seen: BTreeSet<&str> = calm
        .kinds
        .keys()
        .filter_map(|kind| kind.split_once(' '))
        .map(|(_, what)| what)
        .collect();
    assert_eq!(
        seen,
        known.iter().copied().collect(),
        "every kind is somebody's"
    );
    dies_at_each(&calm, &OF_WORKER, true);
}

#[test]
fn i04_a_crash_while_a_keeper_starts_its_run_changes_nothing() {
    dies_at_each(&calm(), &OF_KEEPER[0], false);
}

#[test]
fn i04_a_crash_while_a_keeper_ends_its_run_changes_nothing() {
    dies_at_each(&calm(), &OF_KEEPER[1], false);
}
