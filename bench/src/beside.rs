//! A small loop beside a loop on a large repository, with the same worker. The peer is the same
//! small loop alone with its worker, while bare `git` clones the large repository beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use journal::Journal;
use serde_json::Value;

use crate::driven::{Agent, NotSeen, Place, git, median, until};
use crate::talk::{Outcome, say};

/// Files in the large repository, unless an argument says otherwise.
const FILES: usize = 20_000;
const ROUNDS: usize = 3;
const DEMANDED: f64 = 1.2;
/// The file that a checkout of the large repository writes first.
const FIRST: &str = "0-first.txt";
/// Where in a state folder a checkout may lie.
const DEPTH: usize = 7;
const QUICK: Duration = Duration::from_millis(5);

/// What the loop on the large repository has just begun.
#[derive(Clone, Copy)]
enum Moment {
    /// The first checkout of all, which is for the checks on the base.
    FirstCheckout,
    /// The run of its implementor, which begins with a checkout.
    Implement,
}

/// Seconds, one of each per round; infinite is what was not over when patience was.
#[derive(Default)]
struct Figures {
    beside_git: Vec<f64>,
    at_first: Vec<f64>,
    at_implement: Vec<f64>,
    cancel_small: Vec<f64>,
    cancel_large: Vec<f64>,
}

/// `bench beside [FILES] [ROUNDS]`.
pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    let number = |index: usize, usual: usize| match arguments.get(index) {
        Some(text) => text.parse(),
        None => Ok(usual),
    };
    let (n_files, rounds) = (number(0, FILES)?, number(1, ROUNDS)?);
    let place = Place::new()?;
    place.project("large", Agent::Instant, FIRST, n_files)?;
    place.project("small", Agent::Instant, "README", 3)?;
    place.project("sleepy", Agent::Sleeper, "README", 3)?;
    say(&format!(
        "{}: a small loop beside one on a repository of {n_files} files; seconds",
        place.program().display()
    ));
    let mut figures = Figures::default();
    for round in 0..rounds {
        figures.measure(&place, round)?;
    }
    figures.tell();
    Ok(())
}

impl Figures {
    /// Each figure is told at once: the next may take minutes.
    fn measure(&mut self, place: &Place, round: usize) -> Outcome<()> {
        let tell = |what: &str, took: Outcome<f64>| {
            let took = match took {
                Err(error) if error.is::<NotSeen>() => f64::INFINITY,
                other => other?,
            };
            say(&format!("round {}: {what}: {took:.2}", round + 1));
            Outcome::Ok(took)
        };
        let took = beside_git(place);
        self.beside_git.push(tell("beside bare git", took)?);
        let took = beside_large(place, Moment::FirstCheckout, |home, _| {
            small_loop(place, home)
        });
        self.at_first
            .push(tell("from the large loop's first checkout on", took)?);
        let took = beside_large(place, Moment::Implement, |home, _| small_loop(place, home));
        self.at_implement
            .push(tell("from the large loop's first agent on", took)?);
        let took = cancel_small(place);
        self.cancel_small
            .push(tell("cancel of the small loop", took)?);
        let took = beside_large(place, Moment::Implement, |home, large| {
            cancel(place, home, large)
        });
        self.cancel_large
            .push(tell("cancel of the large loop", took)?);
        Ok(())
    }

    fn tell(&self) {
        let peer = median(&self.beside_git);
        say(&format!(
            "medians of {}: the small loop beside bare git {peer:.2} s",
            self.beside_git.len()
        ));
        for (when, times) in [
            ("first checkout", &self.at_first),
            ("first agent", &self.at_implement),
        ] {
            let ratio = median(times) / peer;
            let holds = if ratio <= DEMANDED { "yes" } else { "NO" };
            say(&format!(
                "  from the large loop's {when} on: {:.2} s, {ratio:.2}× (demanded: at most {DEMANDED}×; holds: {holds})",
                median(times)
            ));
        }
        say(&format!(
            "  cancel while the large loop checks out: the small one {:.2} s, the large one {:.2} s",
            median(&self.cancel_small),
            median(&self.cancel_large)
        ));
    }
}

/// The small loop with a worker of its own, while `git` clones the large repository.
fn beside_git(place: &Place) -> Outcome<f64> {
    let clones = Clones::begin(place)?;
    let worker = place.serve("home")?;
    let took = small_loop(place, "home");
    end(place, worker)?;
    clones.end()?;
    took
}

/// What `deed` takes in the state folder of a loop on the large repository, from this moment on.
fn beside_large(
    place: &Place,
    moment: Moment,
    deed: impl FnOnce(&str, &str) -> Outcome<f64>,
) -> Outcome<f64> {
    let worker = place.serve("home")?;
    let took = large_loop(place, moment).and_then(|large| deed("home", &large));
    end(place, worker)?;
    took
}

/// The small loop's agent is at work before the large loop begins.
fn cancel_small(place: &Place) -> Outcome<f64> {
    let worker = place.serve("home")?;
    let took = sleepy_loop(place).and_then(|small| {
        large_loop(place, Moment::Implement)?;
        cancel(place, "home", &small)
    });
    end(place, worker)?;
    took
}

fn sleepy_loop(place: &Place) -> Outcome<String> {
    let small = place.start("home", "sleepy", &[])?;
    let journal = Journal::open(&place.path("home"))?;
    until("the sleeping agent", QUICK, || {
        Ok(implements(&journal, &small)?.then_some(()))
    })?;
    // The start is recorded before the agent is there.
    std::thread::sleep(Duration::from_secs(1));
    Ok(small)
}

/// Starts the loop on the large repository, and returns when the moment has come.
fn large_loop(place: &Place, moment: Moment) -> Outcome<String> {
    let large = place.start("home", "large", &[])?;
    let journal = Journal::open(&place.path("home"))?;
    until("the large loop's checkout", QUICK, || {
        let come = match moment {
            Moment::FirstCheckout => holds_checkout(&place.path("home"), DEPTH),
            Moment::Implement => implements(&journal, &large)?,
        };
        Ok(come.then_some(()))
    })?;
    Ok(large)
}

/// Whether the loop's implementor has begun; that is recorded before anything is done for it.
fn implements(journal: &Journal, loop_id: &str) -> Outcome<bool> {
    for record in journal.read(loop_id, 0)? {
        let body: Value = serde_json::from_str(&record.body)?;
        if record.kind == "run-started" && body["run"]["stage"] == "implement" {
            return Ok(true);
        }
    }
    Ok(false)
}

fn holds_checkout(folder: &Path, depth: usize) -> bool {
    if depth == 0 || folder.extension().is_some_and(|ending| ending == "git") {
        return false;
    }
    folder.join(FIRST).exists()
        || fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .any(|entry| holds_checkout(&entry.path(), depth - 1))
}

/// From the command `start` to the loop's last record.
fn small_loop(place: &Place, home: &str) -> Outcome<f64> {
    let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let small = place.start(home, "small", &[])?;
    let view = place.wait_for(home, &small, "completed", Duration::from_millis(100))?;
    let ended = view["lastAt"].as_str().ok_or("a loop without an end")?;
    let ended = Duration::from_millis(u64::try_from(testkit::ms_of(ended))?);
    Ok(ended.saturating_sub(begun).as_secs_f64())
}

/// From the command `cancel` to the status.
fn cancel(place: &Place, home: &str, loop_id: &str) -> Outcome<f64> {
    let begun = Instant::now();
    place.ask(home, &["cancel", loop_id])?;
    place.wait_for(home, loop_id, "cancelled", Duration::from_millis(10))?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Ends the worker and whatever its loops still have, and removes their state.
fn end(place: &Place, mut worker: Child) -> Outcome<()> {
    worker.kill()?;
    worker.wait()?;
    place.end_those_of("home")?;
    fs::remove_dir_all(place.path("home"))?;
    Ok(())
}

/// Clones of the large repository, one after the other.
struct Clones {
    folder: PathBuf,
    over: Arc<AtomicBool>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Clones {
    /// Returns when the first one has come to its checkout.
    fn begin(place: &Place) -> Outcome<Self> {
        let folder = place.path("clones");
        fs::create_dir_all(&folder)?;
        let over = Arc::new(AtomicBool::new(false));
        let (home, seen) = (place.path(""), Arc::clone(&over));
        let clones = Self {
            thread: std::thread::spawn(move || clone_until(&home, &seen)),
            folder,
            over,
        };
        until("a checkout by bare git", QUICK, || {
            Ok(holds_checkout(&clones.folder, 2).then_some(()))
        })?;
        Ok(clones)
    }

    fn end(self) -> Outcome<()> {
        self.over.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| "the cloning thread failed")??;
        fs::remove_dir_all(self.folder)?;
        Ok(())
    }
}

/// The last one is ended in the middle.
fn clone_until(home: &Path, over: &AtomicBool) -> std::io::Result<()> {
    for number in 0_u32.. {
        let mut child = git(home)
            .args(["clone", "--quiet", "--no-hardlinks", "large"])
            .arg(format!("clones/{number}"))
            .current_dir(home)
            .stderr(Stdio::null())
            .spawn()?;
        while child.try_wait()?.is_none() {
            if over.load(Ordering::Relaxed) {
                child.kill()?;
                child.wait()?;
                return Ok(());
            }
            std::thread::sleep(QUICK);
        }
        if over.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}
