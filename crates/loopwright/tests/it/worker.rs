//! The worker as people meet it: its log, the report of a bug, questions with an address, and the
//! pipe that wakes it.

use std::fs;
use std::process::{Command, Stdio};

use crate::scene::{IMPLEMENT, JUDGE, Scene, processes_with, wait_until};

/// A development build panics on demand; a released program does not look at the variable, so there
/// this test does not exist.
#[cfg(debug_assertions)]
#[test]
fn a_bug_of_ours_is_reported_and_ends_with_exit_code_70() {
    let scene = Scene::new(&["one"]);
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["serve", "--until-idle"],
        &["serve", "--until-idle", "--detached"],
        &["keeper", "nowhere"],
    ] {
        let output = scene
            .env
            .command(arguments)
            .env("LOOPWRIGHT_PANIC", "the moon is full")
            .stdin(Stdio::null())
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(70), "{arguments:?}: {said}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
        let journal = scene.home().join("journal.db").display().to_string();
        for expected in [
            "error: this is a bug in loopwright: the moon is full\n",
            "crash_report.rs:",
            &journal,
            "help: nothing that was recorded is lost; run the command again\n",
            "worker.log",
        ] {
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
    }
}

/// What a worker wrote about a loop of one story.
fn log_of(level: Option<&str>) -> String {
    let scene = Scene::new(&["one"]);
    let mut command = scene.env.command(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--foreground",
    ]);
    if let Some(level) = level {
        command.env("LOOPWRIGHT_LOG", level);
    }
    assert!(command.output().expect("ran").status.success());
    fs::read_to_string(scene.home().join("worker.log")).expect("a log")
}

/// In a container, our session and our group may be led by processes outside of it, which have no
/// number inside.
#[test]
fn a_worker_works_in_a_container_whose_session_is_led_from_outside() {
    const CONTAINER: [&str; 3] = ["--pid", "--fork", "--mount-proc"];
    let mut possible = Command::new("unshare");
    if !possible
        .args(CONTAINER)
        .arg("true")
        .status()
        .is_ok_and(|end| end.success())
    {
        eprintln!("no containers here: skipped");
        return;
    }
    let scene = Scene::new(&["one"]);
    let inside = scene
        .env
        .command(&["start", "prd.json", "--project", "project", "--foreground"]);
    let mut command = Command::new("unshare");
    command
        .args(CONTAINER)
        .arg(inside.get_program())
        .args(inside.get_args());
    command.current_dir(scene.env.path("")).env_clear();
    command.envs(
        inside
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = scene.env.output(&mut command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(scene.status()["status"], "completed", "{said}");
}

#[test]
fn whoever_follows_is_told_that_no_worker_can_work() {
    let scene = Scene::new(&["one"]);
    fs::create_dir_all(scene.home().join("worker.lock")).expect("a folder in the lock's place");
    let answer = scene.start(&["--foreground"]);
    let said = answer.whole();
    assert_eq!(answer.exit, 3, "{said}");
    for expected in [
        "every worker ends at once, so nothing happens: ",
        "worker.lock",
        "worker.log",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_worker_logs_what_it_did_and_debug_says_more() {
    let usual = log_of(None);
    let is_of_judge = |line: &&str| {
        ["INFO", "loop_id=", "story=\"one\"", "stage=\"judge\""]
            .iter()
            .all(|part| line.contains(part))
    };
    assert!(usual.lines().any(|line| is_of_judge(&line)), "{usual}");
    assert!(usual.contains("worker started"), "{usual}");
    assert!(!usual.contains("DEBUG"), "{usual}");
    let more = log_of(Some("debug"));
    assert!(more.contains("DEBUG") && more.contains("INFO"), "{more}");
}

#[test]
fn an_answer_may_name_its_story_and_a_wrong_one_is_refused() {
    let needs_login = format!("[ -f \"$STARTS-login\" ] || exit 77\n{IMPLEMENT}");
    let scene = Scene::with_agents(&["one", "two"], &needs_login, JUDGE);
    scene.start(&[]);
    let view = scene.wait_for(&["needs_human"]);
    let id = view["loopId"].as_str().expect("an id");
    assert_eq!(view["questions"][0]["storyId"], "one", "{view}");
    for wrong in ["two", "nobody"] {
        let refused = scene.env.run(&["answer", id, "--story", wrong, "retry"]);
        assert!(
            refused.exit == 2 && refused.stderr.contains(wrong),
            "{}",
            refused.whole()
        );
    }
    assert_eq!(scene.wait_for(&["needs_human"]), view, "nothing changed");
    // The one that asks may be named, or not.
    let named = scene.env.run(&["answer", id, "--story", "one", "retry"]);
    assert_eq!(named.exit, 0, "{}", named.whole());
    scene.wait_for_view("the question again", |view| {
        view["status"] == "needs_human" && scene.starts().len() == 2
    });
    scene.env.write("starts-login", "");
    let plain = scene.env.run(&["answer", id, "retry"]);
    assert_eq!(plain.exit, 0, "{}", plain.whole());
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["attempts"], 1, "{view}");
}

/// A worker that rests hears of a request by its pipe. That it also looks by itself now and then
/// cannot be told apart here; whoever cannot write to the pipe is heard all the same.
#[test]
fn a_request_reaches_a_worker_that_rests() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 77\n", JUDGE);
    scene.start(&[]);
    let view = scene.wait_for(&["needs_human"]);
    let id = view["loopId"].as_str().expect("an id");
    let pipe = scene.home().join("wake");
    let kind = fs::metadata(&pipe).expect("a pipe").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind), "{kind:?}");
    assert_eq!(scene.env.run(&["answer", id, "skip"]).exit, 0);
    assert_eq!(
        scene.wait_for(&["completed"])["stories"][0]["status"],
        "skipped"
    );
    // A pipe that somebody took away costs nothing but time.
    wait_until("the worker's end", || {
        processes_with(&scene.home()).is_empty().then_some(())
    });
    fs::remove_file(&pipe).expect("removed");
    fs::create_dir(&pipe).expect("a folder in its place");
    scene.git(&["checkout", "--quiet", "prd.json"]);
    scene.start(&[]);
    let id = scene.wait_for(&["needs_human"])["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(scene.env.run(&["cancel", &id]).exit, 0);
    scene.wait_for(&["cancelled"]);
}

/// A worker that ends has looked for loops for the last time and holds its lock a moment longer. The
/// test holds the lock in its place, so that the loop is recorded in that moment.
#[test]
fn a_loop_that_is_started_while_a_worker_ends_finds_another_one() {
    let scene = Scene::new(&["one"]);
    assert_eq!(scene.env.run(&["list"]).exit, 0, "it makes the folder");
    let ending = fs::File::create(scene.home().join("worker.lock")).expect("a lock file");
    ending.lock().expect("locked");
    let started = scene.start(&[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    drop(ending);
    scene.wait_for(&["completed"]);
}
