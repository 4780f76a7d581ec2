//! Faults around a worker that once made a loop stand still for ever: each is over by itself, or is
//! told with what to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::{Journal, NewRecord};
use kernel::{Event, FaultCause, RunOutcome};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::scene::{IMPLEMENT, Scene, newest_view, wait_until};
use crate::sigkill::ours;

/// A scene whose implementor waits for the file `gate`, and whose loop has come that far.
struct Gated {
    scene: Scene,
    loop_id: String,
}

impl Gated {
    fn new(stories: &[&str]) -> Self {
        let scene = gated_scene(stories);
        let started = scene.start(&[]);
        assert_eq!(started.exit, 0, "{}", started.whole());
        Self::begun(scene)
    }

    fn begun(scene: Scene) -> Self {
        wait_until("the first agent", || {
            (!scene.starts().is_empty()).then_some(())
        });
        let journal = Journal::open(&scene.home()).expect("a journal");
        let loop_id = newest_view(&journal)["loopId"]
            .as_str()
            .expect("an id")
            .to_owned();
        Self { scene, loop_id }
    }

    fn open_gate(&self) {
        self.scene.env.write("gate", "");
    }

    fn worker(&self) -> Pid {
        wait_until("a worker", || ours(&self.scene, "serve").first().copied())
    }

    /// Ends all processes of ours that run as `verb`, and waits until they are gone.
    fn kill(&self, verb: &str) {
        for process in ours(&self.scene, verb) {
            let _ = kill_process(process, Signal::KILL);
        }
        wait_until("their end", || {
            ours(&self.scene, verb).is_empty().then_some(())
        });
    }

    /// Starts another worker.
    fn restart(&self) {
        let restarted = self.scene.env.run(&["worker", "restart"]);
        assert_eq!(restarted.exit, 0, "{}", restarted.whole());
    }

    fn repository(&self) -> PathBuf {
        self.scene
            .home()
            .join("loops")
            .join(&self.loop_id)
            .join("repo.git")
    }

    /// Every story has passed at its first attempt.
    fn completes(&self) {
        let view = self.scene.wait_for(&["completed"]);
        for story in view["stories"].as_array().expect("stories") {
            let seen = (story["status"].as_str(), story["attempts"].as_u64());
            assert_eq!(seen, (Some("passed"), Some(1)), "{view}");
        }
    }
}

fn gated_scene(stories: &[&str]) -> Scene {
    let scene = Scene::new(stories);
    let gate = scene.env.path("gate");
    let implement = format!(
        "echo \"$LOOPWRIGHT_RUN_ID\" >> \"$STARTS\"\nwhile [ ! -f {} ]; do sleep 0.02; done\n{IMPLEMENT}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", implement);
    scene
}

/// The program under another name: a link where that can be, else a copy.
fn put_program(at: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_loopwright"));
    fs::create_dir_all(at.parent().expect("a parent")).expect("a folder");
    if fs::hard_link(program, at).is_err() {
        fs::copy(program, at).expect("copied");
    }
}

#[test]
fn a_loop_goes_on_after_an_upgrade_in_place_and_a_killed_worker() {
    for is_replaced in [true, false] {
        let scene = gated_scene(&["one"]);
        let program = scene.env.path("bin/loopwright");
        put_program(&program);
        let usual =
            scene
                .env
                .command(&["start", "--project", "project", "--prd", "project/prd.json"]);
        let mut command = Command::new(&program);
        command.args(usual.get_args()).env_clear();
        command.envs(
            usual
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.current_dir(scene.env.path("")).stdin(Stdio::null());
        let started = command.output().expect("ran");
        assert!(started.status.success(), "{started:?}");
        let gated = Gated::begun(scene);
        let worker = gated.worker();
        fs::remove_file(&program).expect("removed");
        if is_replaced {
            put_program(&program);
        }
        kill_process(worker, Signal::KILL).expect("killed");
        gated.open_gate();
        gated.completes();
    }
}

/// A stack of this size cannot be had, so no thread can be started, as on a machine at its limit.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "4611686018427387904");

#[test]
fn a_worker_that_gets_no_thread_tries_again() {
    let gated = Gated::new(&["one"]);
    gated.kill("serve");
    let mut starved = gated.scene.env.command(&["serve", "--until-idle"]);
    starved
        .env("LOOPWRIGHT_HOME", gated.scene.home())
        .env(NO_THREADS.0, NO_THREADS.1)
        .stdin(Stdio::null());
    let mut starved = starved
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    // A keeper that ends and finds no worker starts one that has threads.
    wait_until("its turn", || {
        let status = gated.scene.env.run(&["worker", "status", "--json"]);
        let pid = status.json()["result"]["pid"].as_u64();
        (pid == Some(u64::from(starved.id()))).then_some(())
    });
    gated.open_gate();
    let fault = gated
        .scene
        .home()
        .join("loops")
        .join(&gated.loop_id)
        .join("fault");
    wait_until("the fault", || {
        let ended = starved.try_wait().expect("looked at");
        assert_eq!(ended, None, "the worker lives");
        fault.exists().then_some(())
    });
    let said = gated.scene.env.run(&["status", &gated.loop_id]);
    assert!(said.stdout.contains("fault   "), "{}", said.whole());
    starved.kill().expect("killed");
    starved.wait().expect("ended");
    gated.restart();
    gated.completes();
}

/// A journal whose last record is of a time to come is what a clock that was set back leaves.
#[test]
fn a_wait_ends_although_the_clock_was_set_back_two_days() {
    const TWO_DAYS_MS: i64 = 2 * 24 * 3600 * 1000;
    let gated = Gated::new(&["one"]);
    gated.kill("serve");
    gated.kill("keeper");
    let journal = Journal::open(&gated.scene.home()).expect("a journal");
    let loaded = home::load(&journal, &gated.loop_id).expect("a loop");
    let event = Event::RunEnded {
        run: loaded.state.running()[0].clone(),
        outcome: RunOutcome::fault(FaultCause::Network, "the network was away"),
        usage: None,
        walls: kernel::Walls::default(),
    };
    let record = NewRecord {
        at_ms: home::now_ms() + TWO_DAYS_MS,
        kind: event.kind(),
        body: &serde_json::to_string(&event).expect("JSON"),
    };
    journal
        .append(&gated.loop_id, loaded.last, None, &[record])
        .expect("appended");
    gated.open_gate();
    gated.restart();
    gated.completes();
    let view = gated.scene.status();
    let negative = |value: &Value| value.as_i64().is_some_and(|number| number < 0);
    let story = &view["stories"][0];
    assert!(
        !negative(&view["spentMs"]) && !negative(&story["durationMs"]),
        "{view}"
    );
    for verb in ["events", "runs"] {
        let said = gated.scene.env.run(&[verb, &gated.loop_id, "--json"]);
        assert!(!said.stdout.contains("Ms\":-"), "{}", said.whole());
    }
}

/// Waits for the question, looks at how it is told, mends the damage and answers.
fn asks_until_mended(gated: &Gated, mend: impl FnOnce()) {
    let view = gated.scene.wait_for(&["needs_human"]);
    let said = view["reason"].as_str().unwrap_or_default().to_owned();
    for expected in [
        &gated.repository().display().to_string(),
        "git -C",
        "fsck",
        "`retry`",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
    let told = gated.scene.env.run(&["list"]);
    assert!(told.stdout.contains("needs_human"), "{}", told.whole());
    mend();
    let answered = gated.scene.env.run(&["answer", &gated.loop_id, "retry"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    let recorded = format!("{}: the answer was recorded\n", gated.loop_id);
    assert_eq!(answered.stdout, recorded);
    gated.completes();
}

#[test]
fn a_deleted_object_of_a_loops_repository_is_asked_about() {
    let gated = Gated::new(&["one"]);
    let (objects, aside) = (
        gated.repository().join("objects"),
        gated.repository().join("aside"),
    );
    fs::rename(&objects, &aside).expect("moved");
    fs::create_dir(&objects).expect("made");
    gated.open_gate();
    asks_until_mended(&gated, || {
        fs::remove_dir_all(&objects).expect("removed");
        fs::rename(&aside, &objects).expect("moved back");
    });
}

#[test]
fn a_garbled_ref_of_a_loops_repository_is_asked_about() {
    let gated = Gated::new(&["one"]);
    let branch = gated.repository().join("refs/heads/agent-loop");
    fs::create_dir_all(&branch).expect("made");
    fs::write(branch.join(&gated.loop_id), "no commit\n").expect("written");
    gated.open_gate();
    asks_until_mended(&gated, || {
        fs::remove_file(branch.join(&gated.loop_id)).expect("removed");
    });
}

/// Whoever looks is told, and the worker goes on by itself: it is the same process as before.
#[test]
fn a_journal_that_somebody_else_holds_is_waited_for() {
    let gated = Gated::new(&["one"]);
    let worker = gated.worker();
    let journal = Journal::open(&gated.scene.home()).expect("a journal");
    let held = journal.hold(|| {
        gated.open_gate();
        wait_until("the worker's trouble", || {
            gated
                .scene
                .home()
                .join("worker.fault")
                .exists()
                .then_some(())
        });
        // It is told as long as it lasts, and not only at every other look.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            assert!(
                gated.scene.home().join("worker.fault").exists(),
                "the trouble is not told after {:?}",
                began.elapsed()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        let words = "the journal is held by somebody else";
        for verb in [&["list"][..], &["status", &gated.loop_id], &["doctor"]] {
            let said = gated.scene.env.run(verb).whole();
            assert!(said.contains(words), "{verb:?}: {said}");
        }
    });
    held.expect("held");
    gated.completes();
    assert_eq!(ours(&gated.scene, "serve"), [worker], "no other was needed");
    assert!(
        !gated.scene.home().join("worker.fault").exists(),
        "all is well"
    );
}

#[test]
fn a_write_ahead_log_that_was_cut_in_half_is_told_and_read_as_far_as_it_goes() {
    let gated = Gated::new(&["one"]);
    let worker = gated.worker();
    kill_process(worker, Signal::STOP).expect("stopped");
    let log = fs::File::options()
        .write(true)
        .open(gated.scene.home().join("journal.db-wal"))
        .expect("a log");
    let length = log.metadata().expect("a length").len();
    log.set_len(length / 2).expect("cut");
    let said = gated.scene.env.run(&["list"]);
    assert_eq!(said.exit, 3, "{}", said.whole());
    assert!(
        said.stderr.contains("the journal is damaged"),
        "{}",
        said.whole()
    );
    let doctor = gated.scene.env.run(&["doctor"]);
    assert_eq!(doctor.exit, 3, "{}", doctor.whole());
    assert!(
        doctor.stdout.contains("the journal is damaged"),
        "{}",
        doctor.whole()
    );
    kill_process(worker, Signal::CONT).expect("goes on");
    gated.open_gate();
    // Nobody may keep the journal open, so it is opened for every look.
    wait_until("the loop's end", || {
        let journal = Journal::open(&gated.scene.home()).ok()?;
        journal.check().ok()?;
        (newest_view(&journal)["status"] == "completed").then_some(())
    });
}

#[test]
fn a_worker_that_is_stopped_is_told_and_can_be_replaced() {
    let gated = Gated::new(&["one"]);
    let worker = gated.worker();
    let pid = worker.as_raw_nonzero().get();
    kill_process(worker, Signal::STOP).expect("stopped");
    let words = format!("the worker process {pid} is stopped");
    let remedy = format!("`kill -CONT {pid}`");
    for (verb, exit) in [
        (&["list"][..], 0),
        (&["status", &gated.loop_id], 0),
        (&["doctor"], 3),
        (&["worker", "status"], 3),
    ] {
        let said = gated.scene.env.run(verb);
        let whole = said.whole();
        assert_eq!(said.exit, exit, "{verb:?}: {whole}");
        assert!(
            whole.contains(&words) && whole.contains(&remedy),
            "{verb:?}: {whole}"
        );
    }
    let status = gated
        .scene
        .env
        .run(&["status", &gated.loop_id, "--json"])
        .json();
    assert_eq!(status["result"]["status"], "waiting", "{status}");
    assert_eq!(status["result"]["worker"]["state"], "stopped", "{status}");
    gated.restart();
    assert!(!ours(&gated.scene, "serve").contains(&worker), "it is gone");
    gated.open_gate();
    gated.completes();
}

#[test]
fn worker_status_stop_and_restart_say_what_is_there() {
    let gated = Gated::new(&["one"]);
    let worker = gated.worker().as_raw_nonzero().get();
    let status = |exit: i32, state: &str| {
        let said = gated.scene.env.run(&["worker", "status", "--json"]);
        assert_eq!(said.exit, exit, "{}", said.whole());
        assert_eq!(said.json()["result"]["state"], state, "{}", said.whole());
        said.json()["result"]["pid"].as_i64()
    };
    assert_eq!(status(0, "at_work"), Some(i64::from(worker)));
    let stopped = gated.scene.env.run(&["worker", "stop"]);
    assert_eq!(
        stopped.stdout,
        format!("the worker process {worker} has ended\n")
    );
    assert!(
        stopped.stderr.contains("runs that are under way go on"),
        "{}",
        stopped.whole()
    );
    assert_eq!(status(1, "absent"), None);
    let again = gated.scene.env.run(&["worker", "stop"]);
    assert_eq!(
        (again.exit, again.stdout.as_str()),
        (0, "no worker is at work\n")
    );
    let restarted = gated.scene.env.run(&["worker", "restart", "--json"]);
    assert_eq!(restarted.exit, 0, "{}", restarted.whole());
    assert_eq!(
        status(0, "at_work"),
        restarted.json()["result"]["worker"]["pid"].as_i64()
    );
    gated.open_gate();
    gated.completes();
}

#[test]
fn status_says_that_no_worker_is_alive_and_starts_one() {
    let gated = Gated::new(&["one"]);
    gated.kill("serve");
    gated.kill("keeper");
    let mut quiet = gated.scene.env.command(&["status", &gated.loop_id]);
    let quiet = quiet.env("LOOPWRIGHT_WAKE", "off").output().expect("ran");
    let said = String::from_utf8_lossy(&quiet.stderr).into_owned();
    assert!(said.contains("note: no worker is at work"), "{said}");
    assert!(ours(&gated.scene, "serve").is_empty(), "none is started");
    gated.open_gate();
    let said = gated.scene.env.run(&["status", &gated.loop_id]);
    assert!(
        said.stderr
            .contains("no worker was at work; one was started"),
        "{}",
        said.whole()
    );
    gated.completes();
}
