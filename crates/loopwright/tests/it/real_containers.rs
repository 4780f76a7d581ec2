//! Whole loops in containers of the runner's image (`image/build.sh`), in an engine that the test
//! starts for itself. Making the image takes minutes, so all of this is for the soak; `containers` has
//! loops for CI, and the jail itself is tested in containers by `sandbox`.

use std::process::Command;

use sandbox::JailKind;
use serde_json::Value;
use testkit::ModelServer;

use crate::engines::Engine;
use crate::real_agents::{Stage, mind};
use crate::scene::{JUDGE, Scene, wait_until};
use crate::support::project;

/// The image of these tests.
const IMAGE: &str = "localhost/loopwright-runner:tests";

/// Loops that run at the same time.
const LOOPS: usize = 10;

/// Builds the runner's image in an engine. `LOOPWRIGHT_TEST_IMAGE` names the archive of one that was
/// built before, which saves minutes.
fn build(engine: &Engine, agents: &str) {
    if let Ok(archive) = std::env::var("LOOPWRIGHT_TEST_IMAGE") {
        let imported = engine.command(&["import", &archive, IMAGE]).output();
        assert!(imported.expect("an engine").status.success(), "{archive}");
        return;
    }
    let mut command = Command::new("sh");
    command
        .arg(project().join("image/build.sh"))
        .arg(engine.kind.program())
        .envs(&engine.env)
        .env("AGENTS", agents)
        .env("TOOLCHAINS", "")
        .env("IMAGE", IMAGE);
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
}

const KINDS: [JailKind; 2] = [JailKind::Podman, JailKind::Docker];

#[test]
fn a_quartet_of_codex_and_claude_in_containers() {
    for kind in KINDS {
        let engine = Engine::start(kind);
        build(&engine, "codex claude");
        let stage = Stage::new();
        let server = ModelServer::answering(0, mind);
        let url = server.url();
        // The programs are those of the image.
        let agents = ["codex", "claude"].map(|name| {
            let entry = stage.agent(name, &url);
            let kept = entry.lines().filter(|line| !line.starts_with("program"));
            let kept: String = kept.map(|line| format!("{line}\n")).collect();
            kept.replace(&format!(", PATH = \"{}\"", stage.path_with_node()), "")
        });
        let word = kind.program();
        let sandbox = format!(
            "[sandbox]\nkind = \"{word}\"\nimage = \"{IMAGE}\"\nallow = [\"{}\"]\n",
            url.trim_start_matches("http://")
        );
        stage.cast("codex", "claude", "codex", &agents, &sandbox);
        let arguments = [
            "start",
            "--project",
            "project",
            "--prd",
            "project/prd.json",
            "--sandbox",
            word,
            "--no-preflight",
            "--foreground",
        ];
        let mut command = stage.env.command(&arguments);
        command.envs(&engine.env);
        let output = stage.env.output(&mut command);
        let view = stage.view();
        assert_eq!(view["status"], "completed", "{view}\n{output:?}");
        assert_eq!(view["isolation"], word, "{view}");
        assert_eq!(view["stories"][0]["status"], "passed", "{view}");
        assert_eq!(view["stories"][0]["attempts"], 2, "{view}");
        assert_eq!(engine.containers(), Vec::<String>::new());
    }
}

/// Ten loops at once, each run in a container of its own: all end well, and nothing is left.
#[test]
fn ten_loops_at_once_in_real_containers() {
    for kind in KINDS {
        let engine = Engine::start(kind);
        build(&engine, "");
        let work = "cat > /dev/null\necho \"work of $LOOPWRIGHT_STORY_ID\" > \"$LOOPWRIGHT_STORY_ID.txt\"\n";
        let scene = Scene::with_agents(&["one"], work, JUDGE);
        scene.env.write("starts", "");
        for number in 0..LOOPS {
            let name = format!("project{number}");
            let copied = Command::new("cp")
                .arg("-a")
                .arg(scene.project())
                .arg(scene.env.path(&name))
                .status();
            assert!(copied.expect("cp").success());
            let prd = format!("{name}/prd.json");
            let arguments = [
                "start",
                "--project",
                &name,
                "--prd",
                &prd,
                "--flow",
                "judged",
                "--sandbox",
                kind.program(),
                "--set",
                "sandbox.write=../starts",
                "--set",
                &format!("sandbox.image={IMAGE}"),
            ];
            let mut command = scene.env.command(&arguments);
            let output = scene.env.output(command.envs(&engine.env));
            assert!(output.status.success(), "{output:?}");
        }
        let loops = wait_until("the ends of all loops", || {
            let loops = scene.env.run(&["list", "--json"]).json();
            let loops = loops["result"]["loops"].as_array().expect("loops").clone();
            let is_over = |one: &Value| {
                let open = ["running", "waiting", "starting"];
                !open.iter().any(|status| one["status"] == *status)
            };
            (loops.len() == LOOPS && loops.iter().all(is_over)).then_some(loops)
        });
        for one in &loops {
            assert_eq!(one["status"], "completed", "{one}");
            assert_eq!(one["stories"][0]["status"], "passed", "{one}");
        }
        assert_eq!(engine.containers(), Vec::<String>::new());
        assert_stray_is_removed(&engine, &scene, kind);
    }
}

/// A container that carries the mark of a run of ours and has no keeper.
fn assert_stray_is_removed(engine: &Engine, scene: &Scene, kind: JailKind) {
    let run = scene.home().join("loops/gone/runs/run");
    let label = format!("{}={}", sandbox::CONTAINER_LABEL, run.display());
    let made = engine
        .command(&["create", "--label", &label, "--network=none", IMAGE, "true"])
        .output()
        .expect("an engine");
    assert!(made.status.success(), "{made:?}");
    let clean = |more: &[&str]| {
        let mut command = scene.env.command(&[&["clean"], more].concat());
        let output = scene.env.output(command.envs(&engine.env));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = clean(&["--dry-run"]);
    assert!(said.contains("would remove  container"), "{said}");
    assert_eq!(engine.containers().len(), 1, "{said}");
    let said = clean(&[]);
    assert!(said.contains(&format!("of {}", kind.program())), "{said}");
    assert_eq!(engine.containers(), Vec::<String>::new());
}
