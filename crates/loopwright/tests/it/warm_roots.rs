//! Reuse of builds with real roots, through the whole program: what is green only over a root is taken
//! back, and a kill at any moment in which a tree or a root is made changes nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::jail::{CAREFUL, jailed};
use crate::sample::sample;
use crate::scene::Scene;

/// A crate whose own outputs are all that cargo makes: its root has folders and nothing in them.
const CRATE: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n[profile.dev]\ndebug = false\n",
    ),
    (
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    ),
    (".gitignore", "target\n"),
    ("src/lib.rs", "#[test]\nfn it_works() {}\n"),
];

/// One function for each story.
const HONEST: &str = "cat > /dev/null\necho \"pub fn $LOOPWRIGHT_STORY_ID() {}\" >> src/lib.rs\n";

/// The third story's first attempt brings a test that is green only where a build folder was there before.
const LYING: &str = r#"cat > /dev/null
echo "pub fn $LOOPWRIGHT_STORY_ID() {}" >> src/lib.rs
if [ "$LOOPWRIGHT_STORY_ID $LOOPWRIGHT_ATTEMPT" = "three 1" ]; then
  mkdir tests
  cat > tests/stale.rs <<'END'
#[test]
fn the_build_folder_is_old() {
    let made = std::fs::metadata("target/debug/build").and_then(|it| it.modified()).unwrap();
    assert!(made.elapsed().unwrap().as_secs() > 86_400);
}
END
fi
"#;

fn scene(stories: &[&str], implement: &str) -> Scene {
    let checks = "[checks]\ntest = \"cargo test --offline\"\n[retry]\nwait = 1\n";
    let scene = jailed(stories, implement, CAREFUL, checks);
    for (name, text) in CRATE {
        scene.env.write(&format!("project/{name}"), text);
    }
    scene.git(&["add", "Cargo.toml", "Cargo.lock", ".gitignore", "src"]);
    scene.git(&["commit", "--quiet", "-m", "a crate"]);
    scene
}

/// Gives a command a jail, cargo, and roots for every project, however quickly it builds.
fn dressed(mut command: Command) -> Command {
    let machine = |name: &str| std::env::var_os(name);
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let usual = || Path::new(&machine("HOME").unwrap_or_default()).join(folder);
        command.env(name, machine(name).map_or_else(usual, PathBuf::from));
    }
    command
        .env("LOOPWRIGHT_SANDBOX_KIND", "bwrap")
        .env("LOOPWRIGHT_WARM_LEAST_MS", "0");
    command
}

fn started(scene: &Scene) -> String {
    let words = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--flow",
        "judged",
        "--foreground",
    ];
    let ended = scene.env.output(&mut dressed(scene.env.command(&words)));
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    said
}

/// What the measurements said of their steps.
fn steps(scene: &Scene) -> Vec<String> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let loops = folders(&scene.home().join("loops"));
    let runs = loops
        .iter()
        .flat_map(|of_loop| folders(&of_loop.join("runs")));
    let said: String = runs
        .filter_map(|run| std::fs::read_to_string(run.join("stdout")).ok())
        .collect();
    let steps = said.lines().filter_map(|line| line.strip_prefix("== "));
    steps.map(str::to_owned).collect()
}

/// A change of what a root was made with, and files of the project where a root has its own.
const MISFITS: [&str; 2] = [
    "mkdir .cargo; echo '[env]' > .cargo/config.toml",
    "echo '*.tmp' > .gitignore; mkdir -p target; echo 1 > target/notes.txt",
];

#[test]
fn i08_a_tree_that_a_root_does_not_fit_is_measured_from_nothing() {
    for misfit in sample("trees that a root does not fit", &MISFITS) {
        let scene = scene(&["one"], &format!("{HONEST}{misfit}\n"));
        let said = started(&scene);
        let steps = steps(&scene);
        let has = |start: &str| steps.iter().any(|step| step.starts_with(start));
        assert!(has("base, warm: test ended"), "{misfit}: {steps:?}\n{said}");
        assert!(has("candidate: test ended"), "{misfit}: {steps:?}\n{said}");
        assert!(!has("candidate, warm"), "{misfit}: {steps:?}\n{said}");
    }
}

#[test]
fn i01_what_is_green_only_over_a_root_is_taken_back() {
    let scene = scene(&["one", "two", "three"], LYING);
    let said = started(&scene);

    let status = scene.status();
    let story = &status["stories"][2];
    assert_eq!(story["status"], "passed", "{status}\n{said}");
    assert_eq!(story["attempts"], 2, "{status}\n{said}");
    let events = scene.env.run(&["events"]).stdout;
    assert!(events.contains("agent/loop.story.retracted"), "{events}");
    // Nobody was ever shown it.
    let shown = scene.git(&["log", "--all", "--oneline", "--", "tests/stale.rs"]);
    assert_eq!(shown, "", "what was published");
    let loop_id = status["loopId"].as_str().expect("an id");
    let screen = scene.env.run(&["status", loop_id]).stdout;
    assert!(screen.contains("nothing is reused any more: "), "{screen}");
}

/// A released program has no crash switch.
#[cfg(debug_assertions)]
mod crashes {
    use kernel::Event;
    use testkit::CrashSwitch;

    use super::*;
    use crate::crash_writes::{Nth, by_kind, served, worker};
    use crate::prepared::{CLOCK_MS, prepared_with, records};
    use crate::scene::{processes_with, wait_until};

    const LOOP: &str = "01AAAAAAAAAAAAAAAAAAAAAAAA";

    /// What must be the same, whoever died.
    #[derive(Debug, PartialEq)]
    struct Ending {
        published: String,
        prd: String,
        last: String,
    }

    fn play(at: Option<&Nth>) -> (Ending, Vec<String>) {
        play_in(&scene(&["one"], HONEST), at)
    }

    /// Two packages, of which stories touch one.
    fn play_workspace(at: Option<&Nth>) -> (Ending, Vec<String>) {
        let honest =
            "cat > /dev/null\necho \"pub fn $LOOPWRIGHT_STORY_ID() {}\" >> near/src/lib.rs\n";
        let scene = scene(&["one", "two"], honest);
        let package = |name: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n"
            )
        };
        let locked =
            |name: &str| format!("\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
        let test = "#[test]\nfn it_works() {}\n";
        for (path, text) in [
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"far\", \"near\"]\nresolver = \"2\"\n[profile.dev]\ndebug = false\n"
                    .to_owned(),
            ),
            (
                "Cargo.lock",
                format!(
                    "# This file is automatically @generated by Cargo.\n\
                     # It is not intended for manual editing.\nversion = 4\n{}{}",
                    locked("far"),
                    locked("near")
                ),
            ),
            ("far/Cargo.toml", package("far")),
            ("near/Cargo.toml", package("near")),
            ("far/src/lib.rs", test.to_owned()),
            ("near/src/lib.rs", test.to_owned()),
        ] {
            scene.env.write(&format!("project/{path}"), text);
        }
        scene.one_after_the_other("one", "two");
        scene.git(&["rm", "-q", "-r", "src"]);
        scene.git(&["add", "prd.json", "Cargo.toml", "Cargo.lock", "far", "near"]);
        scene.git(&["commit", "--quiet", "-m", "two packages"]);
        play_in(&scene, at)
    }

    fn play_in(scene: &Scene, at: Option<&Nth>) -> (Ending, Vec<String>) {
        prepared_with(scene, LOOP, &["--flow", "judged", "--sandbox", "bwrap"]);
        let at = at.map(|(words, nth)| (words.as_str(), *nth));
        let switch = CrashSwitch::new(&scene.env.path("switch"), at, CLOCK_MS);
        let mut worker = dressed(worker(scene, &switch));
        worker.env(CrashSwitch::OF_CHECKS, switch.folder());
        served(scene, worker);
        wait_until("i11: the end of every process", || {
            processes_with(&scene.home().join("loops"))
                .is_empty()
                .then_some(())
        });
        let last = records(scene, LOOP).pop().map(|record| record.event);
        let Some(Event::LoopEnded { reason, .. }) = last else {
            panic!("the loop has not ended: {last:?}");
        };
        assert_one_root_is_left(scene);
        let ending = Ending {
            published: scene.git(&["log", "--format=%s %T", &format!("agent-loop/{LOOP}")]),
            prd: scene.env.read("project/prd.json"),
            last: format!("{reason:?}"),
        };
        (ending, switch.moments())
    }

    /// Nothing half made is left, and what was made can be used.
    fn assert_one_root_is_left(scene: &Scene) {
        let mut found = Vec::new();
        for project in std::fs::read_dir(scene.home().join("warm")).expect("roots") {
            for entry in std::fs::read_dir(project.expect("a folder").path()).expect("roots") {
                let entry = entry.expect("an entry");
                if entry.path().is_dir() {
                    assert!(entry.path().join("sealed").exists(), "{entry:?}");
                    found.push(entry.path());
                }
            }
        }
        assert_eq!(found.len(), 1, "{found:?}");
    }

    /// CI kills at one moment of trees and one of roots, the soak at all of them.
    #[test]
    fn i04_a_kill_while_a_tree_or_a_root_is_made_changes_nothing() {
        let (calm, moments) = play(None);
        let kinds = by_kind(&moments);
        let named = |word: &str| -> Vec<Nth> {
            let of_word = kinds.iter().filter(|(kind, _)| kind.contains(word));
            of_word.flat_map(|(_, moments)| moments.clone()).collect()
        };
        let (trees, roots) = (named(" tree "), named(" a root"));
        assert!(trees.len() >= 4, "{moments:?}");
        assert_eq!(roots.len(), 6, "{moments:?}");
        let chosen = [sample("trees", &trees), sample("roots", &roots)].concat();
        kill_at(&chosen, &calm, play);
    }

    /// CI kills at one moment, the soak at all of them.
    #[test]
    fn i04_a_kill_while_own_packages_are_kept_or_shown_changes_nothing() {
        let (calm, moments) = play_workspace(None);
        let kinds = by_kind(&moments);
        let own = kinds
            .iter()
            .filter(|(kind, _)| kind.contains("own packages"));
        let own: Vec<Nth> = own.flat_map(|(_, moments)| moments.clone()).collect();
        // Set aside once, and shown for more than one tree.
        assert!(own.len() >= 6, "{moments:?}");
        kill_at(&sample("own packages", &own), &calm, play_workspace);
    }

    fn kill_at(
        moments: &[Nth],
        calm: &Ending,
        play: impl Fn(Option<&Nth>) -> (Ending, Vec<String>),
    ) {
        for moment in moments {
            let (ending, passed) = play(Some(moment));
            let n_passed = passed.iter().filter(|words| **words == moment.0).count();
            assert!(n_passed >= moment.1, "the program never came to {moment:?}");
            assert_eq!(ending, *calm, "killed at {moment:?}");
        }
    }
}
