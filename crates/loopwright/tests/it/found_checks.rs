//! Which checks `start` and `init` find in a project.

use crate::scene::Scene;

/// A project that detection looks at: `tracked` files are committed, `on_disk` ones are ignored.
fn project(tracked: &[(&str, &str)], on_disk: &[(&str, &str)]) -> Scene {
    let scene = Scene::new(&["a"]);
    let ignored: String = on_disk
        .iter()
        .map(|(path, _)| format!("{path}\n"))
        .collect();
    scene.configure("[loop]\nflow = \"solo\"\n\n[checks]\ndetect = true\n");
    scene.env.write("project/.gitignore", ignored);
    for (path, text) in tracked.iter().chain(on_disk) {
        scene.env.write(&format!("project/{path}"), text);
    }
    for (path, _) in tracked {
        scene.git(&["add", path]);
    }
    scene.git(&["add", ".gitignore"]);
    scene.git(&["commit", "-q", "-m", "a project"]);
    scene
}

const CRATE: [(&str, &str); 2] = [
    ("Cargo.toml", "[package]\nname = \"x\"\n"),
    ("src/lib.rs", ""),
];
const PACKAGE: [(&str, &str); 1] = [(
    "package.json",
    r#"{ "scripts": { "test": "mocha" }, "devDependencies": { "mocha": "10" } }"#,
)];

#[test]
fn checks_are_found_in_the_base_and_not_on_the_disk() {
    for (tracked, lock, found, never) in [
        (&CRATE[..], "Cargo.lock", "`cargo test`", "--locked"),
        (&PACKAGE[..], "package-lock.json", "`npm install`", "npm ci"),
    ] {
        let scene = project(tracked, &[(lock, "{}")]);
        let dry = scene.start(&["--dry-run"]);
        assert_eq!(dry.exit, 0, "{}", dry.whole());
        assert!(dry.stderr.contains(found), "{lock}: {}", dry.whole());
        assert!(!dry.stderr.contains(never), "{lock}: {}", dry.whole());
        // What `init` writes down is used for years, so it looks at the same files.
        std::fs::remove_file(scene.project().join("loopwright.toml")).expect("removed");
        let init = scene.env.run(&["init", "--project", "project"]);
        assert_eq!(init.exit, 0, "{}", init.whole());
        let config = scene.env.read("project/loopwright.toml");
        assert!(!config.contains(never), "{lock}: {config}");
    }
}

#[test]
fn checks_are_found_in_the_commit_that_the_loop_starts_from() {
    let scene = project(&CRATE, &[]);
    scene.env.write("project/Cargo.lock", "version = 4\n");
    scene.git(&["add", "Cargo.lock"]);
    scene.git(&["commit", "-q", "-m", "locked"]);
    for (base, is_locked) in [("HEAD", true), ("HEAD~1", false)] {
        let dry = scene.start(&["--dry-run", "--base", base]);
        assert_eq!(dry.exit, 0, "{}", dry.whole());
        let says = dry.stderr.contains("cargo fetch --locked");
        assert_eq!(says, is_locked, "{base}: {}", dry.whole());
    }
}

#[test]
fn a_folder_without_a_commit_is_looked_at_as_it_is() {
    let env = crate::support::TestEnv::new();
    env.write("project/go.mod", "module x\n");
    let init = env.run(&["init", "--project", "project"]);
    assert_eq!(init.exit, 0, "{}", init.whole());
    assert!(
        env.read("project/loopwright.toml")
            .contains("go test ./...")
    );
}
