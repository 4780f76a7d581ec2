//! Ctrl-C in a command that follows a loop, and what is shown of loops that wait or were cancelled.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use journal::Journal;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::scene::{IMPLEMENT, JUDGE, Scene, newest_view, wait_until};

/// A command in a process group of its own, as a terminal runs it.
fn spawn(scene: &Scene, arguments: &[&str]) -> Child {
    let mut command = scene.env.command(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0).spawn().expect("started")
}

/// Presses Ctrl-C, which reaches every process of the group.
fn interrupt(mut child: Child) -> (Option<i32>, String) {
    let group = Pid::from_child(&child);
    kill_process_group(group, Signal::INT).expect("interrupted");
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("read");
    (child.wait().expect("ended").code(), said)
}

const START: &[&str] = &[
    "start",
    "--foreground",
    "--project",
    "project",
    "--prd",
    "project/prd.json",
];

/// The first moment at which there is a loop is the hardest: its worker is just being started.
#[test]
fn ctrl_c_in_the_foreground_says_what_becomes_of_the_loop_from_its_first_moment_on() {
    for is_early in [true, false] {
        let gate_scene = Scene::new(&["one"]);
        let gate = gate_scene.env.path("gate");
        let wait = format!(
            "while [ ! -f {} ]; do sleep 0.02; done\n{IMPLEMENT}",
            gate.display()
        );
        gate_scene.env.write(
            "agents/implement.sh",
            format!("echo x >> \"$STARTS\"\n{wait}"),
        );
        let journal = Journal::open(&gate_scene.home()).expect("a journal");
        let child = spawn(&gate_scene, START);
        let id = wait_until("a loop", || {
            newest_view(&journal)["loopId"].as_str().map(str::to_owned)
        });
        if !is_early {
            wait_until("the agent", || {
                (!gate_scene.starts().is_empty()).then_some(())
            });
        }
        let (exit, said) = interrupt(child);
        assert_eq!(exit, Some(130), "{is_early}: {said}");
        for expected in [
            format!("interrupted: loop {id} ("),
            "goes on in the background".to_owned(),
            format!("`loopwright watch {id}`"),
            format!("`loopwright cancel {id}`"),
        ] {
            assert!(said.contains(&expected), "{is_early}: {expected} in {said}");
        }
        gate_scene.env.write("gate", "");
        gate_scene.wait_for(&["completed"]);
    }
}

#[test]
fn ctrl_c_before_there_is_a_loop_says_that_none_was_started() {
    let scene = Scene::new(&["one"]);
    // Looking at the project takes as long as the test wants.
    let (fake, gate) = (scene.env.path("fake/git"), scene.env.path("git-gate"));
    scene.env.write(
        "fake/git",
        format!("#!/bin/sh\ntouch {0}-there\nwhile [ ! -f {0} ]; do sleep 0.02; done\nPATH=${{PATH#*:}} exec git \"$@\"\n", gate.display()),
    );
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("mode");
    let mut command = scene.env.command(START);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env(
        "PATH",
        format!("{}:{path}", scene.env.path("fake").display()),
    );
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.process_group(0).spawn().expect("started");
    wait_until("git", || {
        scene.env.path("git-gate-there").exists().then_some(())
    });
    kill_process_group(Pid::from_child(&child), Signal::INT).expect("interrupted");
    scene.env.write("git-gate", "");
    let output = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted: no loop was started"), "{said}");
    let journal = Journal::open(&scene.home()).expect("a journal");
    assert!(journal.loops().expect("loops").is_empty(), "no loop");
}

#[test]
fn status_shows_every_wait_with_its_local_time() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 75\n", JUDGE);
    scene.configure("[retry]\nwait = 3600\n");
    scene.start(&[]);
    let view = scene.wait_for(&["waiting"]);
    let id = view["loopId"].as_str().expect("an id");
    let mut command = scene.env.command(&["status", id]);
    let output = command.env("TZ", "HERE-05:30").output().expect("ran");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said
        .lines()
        .find(|line| line.starts_with("waits   "))
        .unwrap_or(&said);
    assert!(
        line.starts_with("waits   one implement by builder until "),
        "{line}"
    );
    assert!(
        line.contains(" +05:30: the agent asked to try again later"),
        "{line}"
    );
    assert!(
        said.lines()
            .next()
            .is_some_and(|line| line.contains("+05:30")),
        "{said}"
    );
}

#[test]
fn a_cancelled_loop_shows_no_question_and_no_story_under_way() {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 77\n", JUDGE);
    scene.start(&[]);
    let view = scene.wait_for(&["needs_human"]);
    let id = view["loopId"].as_str().expect("an id");
    assert_eq!(scene.env.run(&["cancel", id]).exit, 0);
    scene.wait_for(&["cancelled"]);
    let said = scene.env.run(&["status", id]);
    assert!(
        !said.stdout.contains("answer  ") && !said.stdout.contains("running"),
        "{}",
        said.whole()
    );
    assert!(said.stdout.contains("pending  one"), "{}", said.whole());
    let story = scene.env.run(&["story", id, "one"]);
    assert!(!story.stdout.contains("under way"), "{}", story.whole());
    assert!(story.stdout.contains("not finished"), "{}", story.whole());
}
