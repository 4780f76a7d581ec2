//! Keys come from where the person is: the shell of `start`, `resume` and `answer`, never that of
//! whoever started the worker. And a retry uses the configuration that the person has edited.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::scene::{IMPLEMENT, JUDGE, Scene, wait_until};
use crate::support::Answer;

/// Notes which key it was given, and wants the one of the last answer.
const PICKY: &str = "echo \"${SECRET_TOKEN:-none}\" >> \"$STARTS-seen\"\n[ \"$SECRET_TOKEN\" = hunter-answer ] || exit 77\n";

fn scene() -> Scene {
    let scene = Scene::with_agents(&["one"], &format!("{PICKY}{IMPLEMENT}"), JUDGE);
    let config = scene.env.read("project/loopwright.toml").replacen(
        "env = {",
        "pass_env = [\"SECRET_TOKEN\"]\nenv = {",
        1,
    );
    scene.env.write("project/loopwright.toml", config);
    scene
}

/// Runs the program in a shell that has this key, or none.
fn with_key(scene: &Scene, key: Option<&str>, arguments: &[&str]) -> Answer {
    let mut command = scene.env.command(arguments);
    command.envs(key.map(|key| ("SECRET_TOKEN", key)));
    let output = command.stdin(Stdio::null()).output().expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The files of the state folder that hold a key.
fn holders(scene: &Scene) -> Vec<String> {
    let found = Command::new("grep")
        .args(["-r", "-l", "-a", "hunter-"])
        .arg(scene.home())
        .output()
        .expect("grep runs");
    let text = String::from_utf8(found.stdout).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn keys_come_from_the_shell_of_start_resume_and_answer_and_not_from_the_workers() {
    let scene = scene();
    let mut worker = scene.env.command(&["serve"]);
    worker.env("SECRET_TOKEN", "hunter-worker");
    let worker = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut worker = worker.expect("started");
    wait_until("the worker", || {
        home::is_worker_there(&home::Home::at(scene.home())).then_some(())
    });
    let asked = |n_starts: usize| {
        scene.wait_for_view("the question", |view| {
            view["status"] == "needs_human" && scene.starts().len() == n_starts
        })
    };
    let start = ["start", "--project", "project", "--prd", "project/prd.json"];
    let started = with_key(&scene, Some("hunter-start"), &start);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = asked(1);
    let id = view["loopId"].as_str().expect("an id");
    assert_eq!(
        view["reason"],
        "the agent `builder` is not logged in; it was given SECRET_TOKEN, which did not do; log it in, or set \
         SECRET_TOKEN in the shell that you answer from; then answer `retry`"
    );
    // One file of the loop has it, and only its owner can read that.
    let keys = scene.home().join("loops").join(id).join("keys.json");
    assert_eq!(holders(&scene), [keys.display().to_string()]);
    let mode = std::fs::metadata(&keys)
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    // Whoever resumes brings theirs; whoever answers without one takes nothing away.
    with_key(&scene, Some("hunter-resume"), &["resume", id]);
    with_key(&scene, None, &["answer", id, "retry"]);
    asked(2);
    let answered = with_key(&scene, Some("hunter-answer"), &["answer", id, "retry"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    scene.wait_for(&["completed"]);
    assert_eq!(
        scene.env.read("starts-seen"),
        "hunter-start\nhunter-resume\nhunter-answer\n"
    );
    assert_eq!(holders(&scene), Vec::<String>::new(), "gone with the loop");
    worker.kill().expect("ended");
    worker.wait().expect("ended");
}

#[test]
fn a_loop_whose_person_has_no_key_gets_none_from_the_worker() {
    let scene = scene();
    // The first loop starts a worker from a shell that has a key.
    let start = ["start", "--project", "project", "--prd", "project/prd.json"];
    with_key(&scene, Some("hunter-first"), &start);
    let first = scene.wait_for(&["needs_human"]);
    let id = first["loopId"].as_str().expect("an id");
    assert_eq!(scene.env.run(&["cancel", id]).exit, 0);
    scene.wait_for(&["cancelled"]);
    let started = with_key(&scene, None, &start);
    assert!(
        started.stderr.contains(
            "warning: agent: builder runs `sh`, and is to be passed SECRET_TOKEN, which this shell does not have"
        ),
        "{}",
        started.whole()
    );
    let view = scene.wait_for(&["needs_human"]);
    assert_eq!(scene.env.read("starts-seen"), "hunter-first\nnone\n");
    assert_eq!(
        view["reason"],
        "the agent `builder` is not logged in; log it in, or set SECRET_TOKEN in the shell that you answer from; \
         then answer `retry`"
    );
}

#[test]
fn answer_retry_uses_an_edited_configuration_and_says_what_to_do_with_one_that_cannot_be_used() {
    let implement = format!("[ \"$EDITED\" = yes ] || exit 77\n{IMPLEMENT}");
    let scene = Scene::with_agents(&["one"], &implement, JUDGE);
    scene.configure("[checks]\ntest = \"false\"\n");
    // What was given with `start` wins over the file, also over an edited one.
    scene.start(&["--set", "checks.test=test -f README"]);
    let view = scene.wait_for(&["needs_human"]);
    let id = view["loopId"].as_str().expect("an id");
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        format!("{config}\n[loop]\nmax_retry = 3\n"),
    );
    let refused = scene.env.run(&["answer", id, "retry"]);
    assert_eq!(refused.exit, 2, "{}", refused.whole());
    for expected in [
        "max_retry",
        "a retry uses what it says now: mend it, then answer again",
    ] {
        assert!(refused.stderr.contains(expected), "{}", refused.whole());
    }
    assert_eq!(scene.wait_for(&["needs_human"]), view, "nothing changed");
    let edited = config.replacen("env = {", "env = { EDITED = \"yes\",", 1);
    let edited = edited.replace("agent = \"judge\"", "agent = \"builder\"");
    scene.env.write("project/loopwright.toml", edited);
    let answered = scene.env.run(&["answer", id, "retry"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    assert_eq!(
        answered.stderr,
        "the configuration changed; it holds from the next run on\n[roles.judge] names `builder`, and this loop keeps \
         `judge`, with which it was started; to change that, cancel it and start a new one\n"
    );
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
}
