//! Whole loops in containers, with an image of a few programs of this machine, in an engine that the test
//! starts for itself. The runner's own image is in `real_containers`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use sandbox::JailKind;
use serde_json::Value;

use crate::engines::{Engine, IMAGE};
use crate::scene::{IMPLEMENT, JUDGE, Scene};

/// All that the scripted agents and the check of a scene need.
const PROGRAMS: [&str; 4] = ["sh", "cat", "rm", "awk"];

/// Makes an image of these programs and their libraries.
fn image_with_programs(engine: &Engine, scratch: &Path) -> String {
    let root = scratch.join("root");
    for folder in [
        "dev",
        "etc",
        "home/agent",
        "proc",
        "run",
        "sys",
        "tmp",
        "var/tmp",
        "workspace",
    ] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    // Ours is the first process in there, so its libraries must be there too.
    let mut needed = libraries(Path::new(env!("CARGO_BIN_EXE_loopwright")));
    for (name, program) in PROGRAMS.map(|name| (name, found(name))) {
        copy(&program, &root.join("bin").join(name));
        needed.append(&mut libraries(&program));
    }
    for library in needed {
        let inside = library.strip_prefix("/").expect("absolute");
        copy(&library, &root.join(inside));
    }
    let archive = scratch.join("image.tar");
    let packed = Command::new("tar")
        .arg("-C")
        .arg(&root)
        .arg("-cf")
        .arg(&archive)
        .arg(".")
        .status();
    assert!(packed.expect("tar").success());
    let image = "localhost/loopwright-programs:1".to_owned();
    let archive = archive.to_str().expect("text");
    let imported = engine.command(&["import", archive, &image]).output();
    assert!(imported.expect("an engine").status.success());
    image
}

fn found(name: &str) -> PathBuf {
    let places = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
    let place = places.into_iter().find(|place| place.exists());
    std::fs::canonicalize(place.expect("a program of every machine")).expect("a file")
}

/// The files that the program's loader opens, and the loader.
fn libraries(program: &Path) -> BTreeSet<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().expect("ldd");
    let text = String::from_utf8(listed.stdout).expect("text");
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    std::fs::copy(from, to).expect("copied");
}

/// Plays a loop of one story in containers of an image.
fn play(engine: &Engine, scene: &Scene, image: &str) -> Value {
    let image = format!("sandbox.image={image}");
    let arguments = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--flow",
        "judged",
        "--sandbox",
        engine.kind.program(),
        "--set",
        "sandbox.write=../starts",
        "--set",
        &image,
        "--no-preflight",
        "--foreground",
    ];
    let mut command = scene.env.command(&arguments);
    scene.env.output(command.envs(&engine.env));
    scene.status()
}

fn scene() -> Scene {
    let scene = Scene::with_agents(&["one"], IMPLEMENT, JUDGE);
    scene.env.write("starts", "");
    scene
}

/// What a check says in a container is what it says anywhere.
#[test]
fn i08_checks_in_a_container_are_measured() {
    for kind in [JailKind::Podman, JailKind::Docker] {
        let (engine, scene) = (Engine::start(kind), scene());
        let image = image_with_programs(&engine, &scene.env.path("image"));
        let view = play(&engine, &scene, &image);
        assert_eq!(view["stories"][0]["status"], "passed", "{view}");
        assert_eq!(view["isolation"], kind.program(), "{view}");
        let told = scene.env.run(&[
            "story",
            view["loopId"].as_str().expect("an id"),
            "one",
            "--all",
        ]);
        assert!(told.stdout.contains("base: test green"), "{}", told.stdout);
        assert_eq!(engine.containers(), Vec::<String>::new());
    }
}

/// A container without a shell: nothing was measured, so nothing is red, and no attempt is used up.
#[test]
fn i05_checks_that_cannot_be_started_are_no_red_checks() {
    let (engine, scene) = (Engine::start(JailKind::Podman), scene());
    let view = play(&engine, &scene, IMAGE);
    assert_eq!(view["status"], "needs_human", "{view}");
    let asked = view["questions"].to_string();
    assert!(
        asked.contains("the checks cannot be started (`podman` could not make the jail"),
        "{view}"
    );
    assert!(asked.contains("mend that, then answer `retry`"), "{view}");
}
