//! A keeper that died: the loss is noticed, and its process tree is found and ended, and no other.

use std::fs;
use std::path::Path;
use std::process::{Command, id};

use sandbox::{KeeperError, KeeperRecord, RunView};

use crate::scene::{KEEPER, Scene, is_alive, kill_nine, spin_until};

const TREE: &str = "echo $$ >> pids; \
                    setsid sh -c 'echo $$ >> pids; exec sleep 300' & \
                    setsid env -i /bin/sh -c 'echo $$ >> pids; exec /bin/sleep 300' & \
                    (trap '' TERM; exec sh -c 'echo $$ >> pids; exec sleep 300') & \
                    wait";

fn fake_keeper(scene: &Scene, change: impl FnOnce(&mut KeeperRecord)) -> KeeperRecord {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .unwrap()
        .trim()
        .to_owned();
    let pid = i32::try_from(id()).unwrap();
    let mut keeper = KeeperRecord {
        pid,
        start_time: 1,
        boot_id,
        started_at_ms: 1,
    };
    change(&mut keeper);
    fs::write(
        scene.run_dir().join("keeper.json"),
        serde_json::to_vec(&keeper).unwrap(),
    )
    .unwrap();
    keeper
}

#[test]
fn what_a_killed_keeper_left_is_swept() {
    let scene = Scene::script(TREE).launch();
    let other = Scene::script("echo $$ > pid; exec sleep 300").launch();
    let others = other.pids("pid", 1);
    let pids = scene.pids("pids", 4);
    let keeper = scene.keeper();
    kill_nine(keeper.pid);
    assert_eq!(scene.look(), RunView::Lost(keeper));
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    let swept = sandbox::sweep(&scene.run_dir()).unwrap();
    assert!(swept >= 4, "{swept}");
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
    assert_eq!(scene.n_processes(), 0);
    assert_eq!(sandbox::sweep(&scene.run_dir()).unwrap(), 0);
    assert!(!scene.run_dir().join("exit.json").exists());
    assert!(is_alive(others[0]));
}

#[test]
fn a_lost_run_is_not_started_again() {
    let scene = Scene::script("echo started >> starts; exec sleep 300").launch();
    scene.lines("starts", 1);
    let keeper = scene.keeper();
    kill_nine(keeper.pid);
    sandbox::sweep(&scene.run_dir()).unwrap();
    let again = Command::new(KEEPER)
        .arg("keeper")
        .arg(scene.run_dir())
        .status()
        .unwrap();
    assert!(again.success());
    assert_eq!(scene.look(), RunView::Lost(keeper));
    assert_eq!(scene.lines("starts", 1), ["started"]);
}

#[test]
fn a_living_keeper_is_not_swept() {
    let scene = Scene::script("echo $$ > pid; exec sleep 300").launch();
    let pids = scene.pids("pid", 1);
    let refused = sandbox::sweep(&scene.run_dir());
    assert!(
        matches!(refused, Err(KeeperError::Kept { .. })),
        "{refused:?}"
    );
    assert!(is_alive(pids[0]));
}

#[test]
fn a_number_used_again_is_somebody_else() {
    let scene = Scene::script("true").prepare();
    let keeper = fake_keeper(&scene, |_| {});
    assert_eq!(scene.look(), RunView::Lost(keeper));
    assert_eq!(sandbox::sweep(&scene.run_dir()).unwrap(), 0);
}

#[test]
fn another_boot_is_seen() {
    let scene = Scene::script("true").prepare();
    let keeper = fake_keeper(&scene, |keeper| keeper.boot_id = "of-yesterday".to_owned());
    assert_eq!(scene.look(), RunView::Rebooted(keeper));
}

#[test]
fn a_record_that_is_not_one_is_an_error() {
    let scene = Scene::script("true").prepare();
    fs::write(scene.run_dir().join("keeper.json"), "{").unwrap();
    let unreadable = sandbox::look(&scene.run_dir());
    assert!(
        matches!(unreadable, Err(KeeperError::Record { .. })),
        "{unreadable:?}"
    );
    let missing = sandbox::look(Path::new("/no/such/run"));
    assert!(
        matches!(missing, Err(KeeperError::File { .. })),
        "{missing:?}"
    );
}

/// However early the keeper dies, a sweep leaves no process, and the program started at most once.
#[test]
fn a_keeper_may_die_at_any_moment() {
    let script = "echo started >> starts; setsid sleep 300 & exec sleep 300";
    for moment in ["run/keeper.json", "run/stdout", "run/stderr", "work/starts"].repeat(3) {
        let scene = Scene::script(script).launch();
        spin_until(moment, || scene.folder().join(moment).exists());
        let keeper = scene.keeper();
        kill_nine(keeper.pid);
        assert_eq!(scene.look(), RunView::Lost(keeper), "{moment}");
        sandbox::sweep(&scene.run_dir()).unwrap();
        assert_eq!(scene.n_processes(), 0, "{moment}");
        let starts = fs::read_to_string(scene.work("starts")).unwrap_or_default();
        assert!(
            starts.is_empty() || starts == "started\n",
            "{moment}: {starts}"
        );
    }
}
