//! How a run ends, and that no process outlives it.

use std::fs;

use sandbox::{ExitCause, ExitRecord, RunView, StopSignal};

use crate::scene::{Scene, is_alive, spin_until, wait_for};

/// Cause, exit code and signal of a run.
fn said(exit: &ExitRecord) -> (ExitCause, Option<i32>, Option<i32>) {
    (exit.cause.clone(), exit.exit_code, exit.signal)
}

#[test]
fn a_limit_ends_a_run() {
    for (wall_secs, idle_secs, expected) in [
        (1, None, (ExitCause::WallTimeout, None, Some(15))),
        (1, Some(90), (ExitCause::WallTimeout, None, Some(15))),
        (90, Some(1), (ExitCause::IdleTimeout, None, Some(15))),
    ] {
        let scene = Scene::script("echo talk; exec sleep 300").with(|spec| {
            spec.wall_secs = wall_secs;
            spec.idle_secs = idle_secs;
            spec.grace_secs = 60;
        });
        assert_eq!(
            said(&scene.launch().exit()),
            expected,
            "{wall_secs} s, silent {idle_secs:?}"
        );
    }
}

/// Who watches the output says when a run goes round, also beyond the first piece that is kept of it.
#[test]
fn a_run_that_goes_round_is_ended() {
    let loud = "head -c 600000 /dev/zero | tr '\\0' x; echo; echo round and round; exec sleep 300";
    let scene = Scene::script(loud).with(|spec| spec.stream = Some("round and round".to_owned()));
    let expected = (ExitCause::WentRound, None, Some(15));
    assert_eq!(said(&scene.launch().exit()), expected);
    let scene =
        Scene::script("echo straight on").with(|spec| spec.stream = Some("round".to_owned()));
    let expected = (ExitCause::Exited, Some(0), None);
    assert_eq!(said(&scene.launch().exit()), expected);
}

#[test]
fn a_stop_request_ends_a_run() {
    let plain = "echo $$ > pid; exec sleep 300";
    let tidy = "trap 'exit 3' TERM; echo $$ > pid; while :; do sleep 0.02; done";
    for (script, stop_signal, expected) in [
        (
            plain,
            StopSignal::Term,
            (ExitCause::Stopped, None, Some(15)),
        ),
        (plain, StopSignal::Int, (ExitCause::Stopped, None, Some(2))),
        (tidy, StopSignal::Term, (ExitCause::Stopped, Some(3), None)),
    ] {
        let scene = Scene::script(script).with(|spec| {
            spec.stop_signal = stop_signal;
            spec.grace_secs = 60;
        });
        let scene = scene.launch();
        let pids = scene.pids("pid", 1);
        sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
        sandbox::request_stop(&scene.run_dir(), "cancelled again").unwrap();
        assert_eq!(said(&scene.exit()), expected, "{script}, {stop_signal:?}");
        assert_eq!(scene.captured("stop"), "cancelled");
        assert!(!is_alive(pids[0]));
    }
}

#[test]
fn a_stop_before_the_start_starts_nothing() {
    let scene = Scene::script("echo started > started").prepare();
    sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
    let scene = scene.launch();
    assert_eq!(said(&scene.exit()), (ExitCause::Stopped, None, None));
    assert!(!scene.work("started").exists());
}

#[test]
fn a_program_that_ignores_the_signal_is_killed() {
    let scene = Scene::script("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done").launch();
    let pids = scene.pids("pid", 1);
    sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
    assert_eq!(said(&scene.exit()), (ExitCause::Stopped, None, Some(9)));
    assert!(!is_alive(pids[0]));
    assert_eq!(scene.n_processes(), 0);
}

#[test]
fn a_run_without_its_folder_ends() {
    let scene = Scene::script("echo $$ > pid; exec sleep 300").launch();
    let pids = scene.pids("pid", 1);
    let keeper = scene.keeper();
    fs::remove_dir_all(scene.run_dir()).unwrap();
    wait_for("the end of the tree", || {
        (!is_alive(pids[0]) && !is_alive(keeper.pid)).then_some(())
    });
}

/// Each script leaves behind one process that has left the program's group and session and has lost
/// its parent.
#[test]
fn nobody_escapes() {
    let escape = "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > escaped; sleep 300' & \
                  until [ -s escaped ]; do sleep 0.02; done";
    for (end, expected) in [
        ("exit 0", (ExitCause::Exited, Some(0), None)),
        (
            "echo ready > ready; exec sleep 300",
            (ExitCause::Stopped, None, Some(15)),
        ),
    ] {
        let scene = Scene::script(&format!("{escape}; {end}")).launch();
        let escaped = scene.pids("escaped", 1);
        if expected.0 == ExitCause::Stopped {
            scene.lines("ready", 1);
            sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
        }
        let exit = scene.exit();
        assert_eq!(said(&exit), expected, "{end}");
        assert!(exit.swept >= 1, "{end}: {exit:?}");
        assert!(!is_alive(escaped[0]), "{end}");
        assert_eq!(scene.n_processes(), 0, "{end}");
    }
}

/// A process that keeps forking and exiting may be gone each time the table has been read.
#[test]
fn nobody_escapes_by_running() {
    let script = "run() {
                      [ $1 = 20 ] && : > running
                      [ $1 = 20000 ] && : > arrived || run $(($1 + 1)) &
                  }
                  run 1
                  until [ -e running ]; do sleep 0.01; done";
    let scene = Scene::script(script).launch();
    assert_eq!(said(&scene.exit()), (ExitCause::Exited, Some(0), None));
    assert_eq!(scene.n_processes(), 0);
    assert!(!scene.work("arrived").exists());
}

#[test]
fn the_exit_record_comes_when_nothing_is_left() {
    let branch = "(trap '' TERM; echo $$ >> branches; sleep 300) & setsid sleep 300 & (setsid sleep 300 &) ;";
    let scene = Scene::script(&format!("{} wait", branch.repeat(5))).launch();
    wait_for("the tree", || (scene.n_processes() >= 16).then_some(()));
    assert!(matches!(scene.look(), RunView::Running(_)));
    sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
    let record = scene.run_dir().join("exit.json");
    spin_until("the exit record", || record.exists());
    assert_eq!(scene.n_processes(), 0);
    assert!(scene.exit().swept >= 10, "{:?}", scene.exit());
}
