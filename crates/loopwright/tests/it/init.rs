//! `loopwright init`: what it writes is enough to start with, and nothing is overwritten.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;

use crate::support::{Answer, TestEnv};

/// A project with a test command, on a machine with two agents, one of them not logged in.
fn machine() -> TestEnv {
    let env = TestEnv::new();
    let files = [
        ("README", "a project\n"),
        ("Makefile", "test:\n\tsh run-tests.sh\n"),
        ("run-tests.sh", "echo 'ok 1 - a'; echo 1..1\n"),
    ];
    for (path, text) in files {
        env.write(&format!("project/{path}"), text);
    }
    testkit::init(&env.path("project"), &files.map(|(path, _)| path));
    let codex =
        "[ \"$*\" = --version ] && echo codex-cli 0.166.0 && exit\necho Logged in using an API key";
    let claude = "[ \"$*\" = --version ] && echo '2.1.300 (Claude Code)' && exit\necho '{\"loggedIn\": false}'; exit 1";
    for (name, script) in [("codex", codex), ("claude", claude)] {
        let file = format!("bin/{name}");
        env.write(&file, format!("#!/bin/sh\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(env.path(&file), mode).expect("executable");
    }
    // Whoever runs this may have agents of their own, which are not on this path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in ["git", "sh", "make"] {
        let mut folders = std::env::split_paths(&path);
        let program =
            folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
        symlink(program.expect(name), env.path(&format!("bin/{name}"))).expect("a link");
    }
    env
}

fn run(env: &TestEnv, arguments: &[&str]) -> Answer {
    let mut command = env.command(arguments);
    command
        .env("PATH", env.path("bin"))
        .current_dir(env.path("project"));
    let output = command.stdin(Stdio::null()).output().expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn what_init_writes_is_enough_to_start_with_and_stays() {
    let env = machine();
    let files = || {
        let entries = std::fs::read_dir(env.path("project")).expect("a folder");
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let dry = run(&env, &["init", "--dry-run"]);
    assert_eq!(dry.exit, 0, "{}", dry.whole());
    assert_eq!(files(), before, "a dry run makes nothing");
    let made = run(&env, &["init"]);
    assert_eq!(made.exit, 0, "{}", made.whole());
    let (config, prd) = (
        env.read("project/loopwright.toml"),
        env.read("project/prd.json"),
    );
    for text in [&config, &prd] {
        assert!(dry.stdout.contains(text.as_str()), "{}", dry.whole());
    }
    for expected in [
        "\n[agents.codex]\nkind = \"codex\"\n",
        "\n# claude is claude 2.1.300, not logged in; run: claude auth login",
        "\n# [agents.claude]\n# kind = \"claude\"\n",
        "\ntest = \"make test\"\n",
        "\n# subject = \"feat: {title} ({story})\"\n",
    ] {
        assert!(config.contains(expected), "{expected} in {config}");
    }
    let doctor = run(&env, &["doctor"]);
    assert_eq!(doctor.exit, 0, "{}", doctor.whole());
    let start = run(&env, &["start", "prd.json", "--dry-run"]);
    assert_eq!(start.exit, 0, "{}", start.whole());
    assert!(start.stdout.contains("US-001"), "{}", start.whole());
    let again = run(&env, &["init"]);
    assert_eq!(
        again.whole(),
        "exit 2\n----- stdout\n----- stderr\n\
         error: nothing to make: `./loopwright.toml` and the PRD `./prd.json` are there already, and nothing was changed\n\
         help: `loopwright doctor` says whether a loop can start with it\n\
         help: to have a new one written, move `./loopwright.toml` away first\n"
    );
    assert_eq!(env.read("project/loopwright.toml"), config);
    assert_eq!(env.read("project/prd.json"), prd);
}

#[test]
fn init_makes_only_what_is_missing() {
    let env = machine();
    env.write("project/loopwright.toml", "# mine\n");
    let made = run(&env, &["init", "--json"]);
    assert_eq!(made.exit, 0, "{}", made.whole());
    let files = &made.json()["result"]["files"];
    assert_eq!(
        files,
        &serde_json::json!(["./prd.json"]),
        "{}",
        made.whole()
    );
    assert_eq!(env.read("project/loopwright.toml"), "# mine\n");
    // A PRD of one's own is found under another name too.
    let env = machine();
    env.write("project/tasks/PRD-login.yaml", "- id: a\n  title: T\n");
    let made = run(&env, &["init"]);
    assert_eq!(made.exit, 0, "{}", made.whole());
    assert!(
        made.stderr
            .contains("found the PRD `./tasks/PRD-login.yaml`"),
        "{}",
        made.whole()
    );
    assert!(!env.path("project/prd.json").exists());
}

#[test]
fn a_project_without_tests_begins_with_a_judge_alone() {
    let env = machine();
    std::fs::remove_file(env.path("project/Makefile")).expect("removed");
    testkit::git(&env.path("project"), &["commit", "-qam", "no tests"]);
    assert_eq!(run(&env, &["init"]).exit, 0);
    let config = env.read("project/loopwright.toml");
    assert!(config.contains("\nflow = \"judged\""), "{config}");
    let start = run(&env, &["start", "prd.json", "--dry-run"]);
    assert_eq!(start.exit, 0, "{}", start.whole());
}
