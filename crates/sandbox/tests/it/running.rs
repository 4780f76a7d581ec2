//! What a program gets, what is kept of its output, and that it is started only once.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, id};

use sandbox::{ExitCause, KeeperError, RunView};

use crate::scene::{KEEPER, Scene, is_alive, kill_nine, state_and_parent, wait_for};

#[test]
fn output_and_exit_code_are_recorded() {
    let scene = Scene::script("echo out; echo error >&2; exit 7").launch();
    let exit = scene.exit();
    assert_eq!(
        (exit.cause, exit.exit_code, exit.signal),
        (ExitCause::Exited, Some(7), None)
    );
    assert_eq!(
        (exit.run_id.as_str(), exit.swept),
        ("login-1/1/implement", 0)
    );
    assert_eq!((exit.stdout_bytes, exit.stderr_bytes), (4, 6));
    assert_eq!((exit.stdout_dropped, exit.stderr_dropped), (0, 0));
    assert_eq!(
        (
            scene.captured("stdout").as_str(),
            scene.captured("stderr").as_str()
        ),
        ("out\n", "error\n")
    );
    assert!(exit.started_at_ms <= exit.ended_at_ms);
}

#[test]
fn a_program_that_dies_of_a_signal_is_recorded_so() {
    let exit = Scene::script("kill -9 $$").launch().exit();
    assert_eq!(
        (exit.cause, exit.exit_code, exit.signal),
        (ExitCause::Exited, None, Some(9))
    );
}

#[test]
fn the_environment_is_what_was_given() {
    let scene = Scene::script("").with(|spec| {
        spec.program = "env".to_owned();
        spec.args = vec![];
        spec.env
            .insert("GREETING".to_owned(), "good day".to_owned());
    });
    let scene = scene.launch();
    assert_eq!(scene.exit().exit_code, Some(0));
    let text = scene.captured("stdout");
    let mut seen: Vec<&str> = text.lines().collect();
    seen.sort_unstable();
    let run_dir = fs::canonicalize(scene.run_dir()).unwrap();
    let mark = format!("LOOPWRIGHT_RUN_DIR={}", run_dir.display());
    assert_eq!(
        seen,
        [
            "GREETING=good day",
            &mark,
            "PATH=/usr/local/bin:/usr/bin:/bin"
        ]
    );
}

/// Two runs at the same time: each waits for the other before it says its range.
#[test]
fn runs_at_the_same_time_get_port_ranges_that_do_not_overlap() {
    let meet = tempfile::TempDir::new().unwrap();
    let meet = meet.path().display();
    let script = |own: &str, other: &str| {
        format!(
            "touch {meet}/{own}; while [ ! -e {meet}/{other} ]; do sleep 0.02; done; echo $PORT_BASE"
        )
    };
    let taking = |script: String| {
        let scene = Scene::script(&script).with(|spec| spec.takes_ports = true);
        scene.launch()
    };
    let runs = [taking(script("a", "b")), taking(script("b", "a"))];
    let bases = runs.map(|run| {
        assert_eq!(run.exit().exit_code, Some(0));
        let text = run.captured("stdout");
        text.trim().parse::<u16>().unwrap()
    });
    let apart = bases[0].abs_diff(bases[1]);
    assert!(apart > sandbox::PORTS_PER_RUN, "{bases:?}");
}

#[test]
fn standard_input_ends() {
    for (input, expected) in [(Some("two\nlines\n"), "two\nlines\n"), (None, "")] {
        let scene = Scene::script("cat");
        let file = scene.work("input");
        fs::write(&file, input.unwrap_or_default()).unwrap();
        let scene = scene.with(|spec| spec.stdin = input.map(|_| file)).launch();
        assert_eq!(scene.exit().exit_code, Some(0));
        assert_eq!(scene.captured("stdout"), expected, "{input:?}");
    }
}

#[test]
fn what_cannot_start_says_why() {
    for (program, cwd, stdin, expected) in [
        (
            "no-such-program",
            None,
            None,
            "cannot start `no-such-program`: No such file",
        ),
        (
            "/etc/passwd",
            None,
            None,
            "cannot start `/etc/passwd`: Permission denied",
        ),
        (
            "sh",
            Some("/no/such/folder"),
            None,
            "there is no folder `/no/such/folder`",
        ),
        (
            "sh",
            None,
            Some("/no/such/file"),
            "there is no file `/no/such/file`",
        ),
        (
            "sh",
            None,
            Some("/dev/zero"),
            "there is no file `/dev/zero`",
        ),
    ] {
        let scene = Scene::script("").with(|spec| {
            spec.program = program.to_owned();
            spec.cwd = cwd.map_or(spec.cwd.clone(), Into::into);
            spec.stdin = stdin.map(Into::into);
        });
        let exit = scene.launch().exit();
        let ExitCause::CannotStart { why, .. } = exit.cause else {
            panic!("{program}: {:?}", exit.cause)
        };
        assert!(why.starts_with(expected), "{why}");
        assert_eq!((exit.exit_code, exit.signal), (None, None), "{program}");
    }
}

#[test]
fn a_folder_is_prepared_once() {
    let scene = Scene::script("true").prepare();
    assert_eq!(scene.look(), RunView::NotStarted);
    sandbox::prepare(&scene.run_dir(), &scene.spec).unwrap();
    let mode = |name: &str| {
        fs::metadata(scene.run_dir().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode(""), mode("spec.json")), (0o700, 0o600));
    let mut other = scene.spec.clone();
    other.wall_secs += 1;
    let refused = sandbox::prepare(&scene.run_dir(), &other);
    assert!(
        matches!(refused, Err(KeeperError::OtherSpec { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_launch_that_cannot_work_is_an_error() {
    let scene = Scene::script("true").prepare();
    let missing = sandbox::launch(Path::new("/no/such/program"), &scene.run_dir());
    assert!(
        matches!(missing, Err(KeeperError::Launch { .. })),
        "{missing:?}"
    );
    let other_program = sandbox::launch(Path::new("/bin/false"), &scene.run_dir());
    assert!(
        matches!(other_program, Err(KeeperError::LaunchEnded { .. })),
        "{other_program:?}"
    );
    fs::remove_file(scene.run_dir().join("spec.json")).unwrap();
    let no_spec = sandbox::launch(Path::new(KEEPER), &scene.run_dir());
    assert!(
        matches!(no_spec, Err(KeeperError::File { .. })),
        "{no_spec:?}"
    );
}

#[test]
fn launching_again_starts_nothing() {
    let scene =
        Scene::script("echo started >> starts; until [ -e go ]; do sleep 0.02; done").launch();
    for _ in 0..3 {
        sandbox::launch(Path::new(KEEPER), &scene.run_dir()).unwrap();
    }
    let keeper = scene.keeper();
    scene.lines("starts", 1);
    // A second keeper, run in the foreground, exits at once because the folder has a keeper.
    let second = Command::new(KEEPER)
        .arg("keeper")
        .arg(scene.run_dir())
        .status()
        .unwrap();
    assert!(second.success());
    assert_eq!(scene.look(), RunView::Running(keeper));
    fs::write(scene.work("go"), "").unwrap();
    let exit = scene.exit();
    let third = Command::new(KEEPER)
        .arg("keeper")
        .arg(scene.run_dir())
        .status()
        .unwrap();
    assert!(third.success());
    assert_eq!(scene.exit(), exit);
    assert_eq!(scene.lines("starts", 1), ["started"]);
}

#[test]
fn the_keeper_is_nobodys_child_of_ours() {
    let scene = Scene::script("sleep 300").launch();
    let keeper = scene.keeper();
    let (_, parent) = state_and_parent(keeper.pid).unwrap();
    assert_ne!(u32::try_from(parent).unwrap(), id());
}

#[test]
fn a_run_outlives_the_process_that_launched_it() {
    let scene = Scene::script("until [ -e go ]; do sleep 0.02; done; echo finished").prepare();
    let mut launcher = Command::new(KEEPER)
        .arg("launch")
        .arg(scene.run_dir())
        .spawn()
        .unwrap();
    let keeper = scene.keeper();
    kill_nine(i32::try_from(launcher.id()).unwrap());
    launcher.wait().unwrap();
    assert!(is_alive(keeper.pid));
    assert_eq!(scene.look(), RunView::Running(keeper.clone()));
    fs::write(scene.work("go"), "").unwrap();
    assert_eq!(
        (scene.exit().exit_code, scene.captured("stdout").as_str()),
        (Some(0), "finished\n")
    );
    wait_for("the keeper's own end", || {
        (!is_alive(keeper.pid)).then_some(())
    });
}
