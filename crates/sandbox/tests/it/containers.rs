//! Runs in podman and docker: the same jail, made by a program that keeps containers.

use std::fs;
use std::path::Path;
use std::process::Command;

use sandbox::{ExitCause, JailKind, RunView};

use crate::engines::{Engine, IMAGE};
use crate::jailed::jailed_with;
use crate::scene::{KEEPER, Scene, is_alive, kill_nine, wait_for};

const ENGINES: [JailKind; 2] = [JailKind::Podman, JailKind::Docker];

/// A script in a container.
fn contained(engine: &Engine, script: &str) -> Scene {
    jailed_with(script, |jail| {
        jail.kind = engine.kind;
        jail.image = Some(IMAGE.to_owned());
    })
}

/// Launches the keeper with the engine's variables.
fn launch(engine: &Engine, scene: Scene) -> Scene {
    let scene = scene.prepare();
    let launched = Command::new(KEEPER)
        .arg("keeper")
        .arg(scene.run_dir())
        .env("LOOPWRIGHT_KEEPER_RELAUNCH", "1")
        .envs(&engine.env)
        .status();
    assert!(launched.unwrap().success());
    scene
}

#[test]
fn a_program_runs_in_a_container() {
    for engine in ENGINES.map(Engine::start) {
        let script = "pwd; hostname; echo $SECRET; cat; echo kept > file; echo oops >&2; exit 7";
        let scene = contained(&engine, script);
        let prompt = scene.folder().join("prompt.md");
        fs::write(&prompt, "the prompt\n").unwrap();
        let scene = scene.with(|spec| {
            spec.stdin = Some(prompt);
            spec.env.insert("SECRET".to_owned(), "a word".to_owned());
        });
        let scene = launch(&engine, scene);
        let exit = scene.exit();
        let said = scene.captured("stderr");
        assert_eq!(
            (exit.cause, exit.exit_code),
            (ExitCause::Exited, Some(7)),
            "{engine:?}: {said}"
        );
        let expected = "/workspace\njail\na word\nthe prompt\n";
        assert_eq!(scene.captured("stdout"), expected, "{engine:?}");
        assert_eq!(said, "oops\n", "{engine:?}");
        assert_eq!(fs::read_to_string(scene.work("file")).unwrap(), "kept\n");
        assert_eq!(engine.containers(), Vec::<String>::new());
    }
}

#[test]
fn a_container_is_asked_before_it_is_killed() {
    for engine in ENGINES.map(Engine::start) {
        let tidy = "trap 'exit 3' TERM; echo ready > ready; while :; do sleep 0.02; done";
        let scene = contained(&engine, tidy).with(|spec| {
            spec.grace_secs = 60;
            spec.env
                .insert("SECRET".to_owned(), "a-secret-word".to_owned());
        });
        let scene = launch(&engine, scene);
        scene.lines("ready", 1);
        let names = engine.containers();
        assert_eq!(names.len(), 1, "{engine:?}");
        let shown = engine.command(&["inspect", &names[0]]).output().unwrap();
        assert!(
            !String::from_utf8_lossy(&shown.stdout).contains("a-secret-word"),
            "{engine:?}"
        );
        sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
        let exit = scene.exit();
        assert_eq!(
            (exit.cause, exit.exit_code),
            (ExitCause::Stopped, Some(3)),
            "{engine:?}"
        );
        assert_eq!(engine.containers(), Vec::<String>::new());
    }
}

#[test]
fn a_container_ends_with_its_keeper() {
    for engine in ENGINES.map(Engine::start) {
        let scene = contained(&engine, "setsid sleep 300 & echo x > ready; exec sleep 300");
        let scene = launch(&engine, scene);
        scene.lines("ready", 1);
        let record = fs::read(scene.run_dir().join("jail.json")).unwrap();
        let record: sandbox::JailRecord = serde_json::from_slice(&record).unwrap();
        let keeper = scene.keeper();
        kill_nine(keeper.pid);
        assert_eq!(scene.look(), RunView::Lost(keeper));
        wait_for("the end of the container", || {
            (!is_alive(record.pid)).then_some(())
        });
        wait_for("its removal", || {
            engine.containers().is_empty().then_some(())
        });
    }
}

/// Finds strays in a process that knows the engine.
fn strays(engine: &Engine, state: &Path, file: &Path) -> String {
    let found = Command::new(KEEPER)
        .args(["strays", engine.kind.program()])
        .args([state, file])
        .envs(&engine.env)
        .status();
    assert!(found.unwrap().success());
    fs::read_to_string(file).unwrap()
}

/// A container whose keeper and engine lost each other is found by its label, and no other one is.
#[test]
fn a_stray_container_is_found_and_removed() {
    for engine in ENGINES.map(Engine::start) {
        let kept = launch(
            &engine,
            contained(&engine, "echo x > ready; exec sleep 300"),
        );
        kept.lines("ready", 1);
        let folder = tempfile::tempdir().unwrap();
        for (name, run_dir) in [
            ("stray", folder.path().join("run")),
            ("other", "/elsewhere".into()),
        ] {
            let label = format!("{}={}", sandbox::CONTAINER_LABEL, run_dir.display());
            let made = engine.command(&[
                "create",
                "--name",
                name,
                "--label",
                &label,
                "--pull=never",
                IMAGE,
                "/x",
            ]);
            let made = { made }.output().unwrap();
            assert!(
                made.status.success(),
                "{}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
        let file = folder.path().join("found");
        let found = strays(&engine, folder.path(), &file);
        assert_eq!(
            found,
            format!("{}\n", folder.path().join("run").display()),
            "{engine:?}"
        );
        let of_kept = strays(&engine, kept.folder(), &file);
        assert_eq!(of_kept, "", "{engine:?}");
        let mut left = engine.containers();
        left.retain(|name| !name.starts_with("loopwright-"));
        assert_eq!(left, ["other"], "{engine:?}");
        assert!(matches!(kept.look(), RunView::Running(_)));
        sandbox::request_stop(&kept.run_dir(), "the test is over").unwrap();
        kept.exit();
    }
}
