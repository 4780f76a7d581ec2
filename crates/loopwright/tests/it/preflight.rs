//! `start` looks at what `doctor` looks at, and refuses before anything is recorded or paid.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::scene::Scene;
use crate::support::Answer;

/// A program of this test, found before all others.
fn program(scene: &Scene, name: &str, script: &str) {
    let file = format!("bin/{name}");
    scene.env.write(&file, format!("#!/bin/sh\n{script}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.env.path(&file), mode).expect("executable");
}

fn run(scene: &Scene, arguments: &[&str]) -> Answer {
    let others = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{others}", scene.env.path("bin").display());
    let mut command = scene.env.command(arguments);
    let output = command.env("PATH", path).stdin(Stdio::null()).output();
    let output = output.expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

const START: [&str; 5] = ["start", "--project", "project", "--prd", "project/prd.json"];

#[test]
fn start_refuses_what_doctor_calls_bad_before_anything_is_recorded() {
    let scene = Scene::new(&["one"]);
    let well = scene.env.read("project/loopwright.toml");
    let old_git = "case \"$*\" in *--version) echo git version 2.20.1; exit ;; esac\nPATH=${PATH#*:}\nexport PATH\nexec git \"$@\"";
    let no_login =
        "[ \"$*\" = --version ] && echo codex-cli 0.166.0 && exit\necho Not logged in; exit 1";
    for (from, to, programs, subject, found, help) in [
        (
            "\"sh\"",
            "\"no-such-agent\"",
            &[][..],
            "agent",
            "builder: there is no program `no-such-agent`",
            "install it, or write its whole path",
        ),
        (
            "agent = \"judge\"",
            "agent = \"jugde\"",
            &[],
            "roles",
            "[roles.judge] names `jugde`, which is no agent",
            "did you mean `judge`?",
        ),
        (
            "test -f README",
            "no-such-runner --all",
            &[],
            "check",
            "test: `no-such-runner --all`, and there is no program `no-such-runner`",
            "install it, or name another command",
        ),
        (
            "[agents.judge]\ncommand",
            "[agents.judge]\nkind = \"codex\"\n[agents.other]\ncommand",
            &[("codex", no_login)],
            "agent",
            "judge is codex 0.166.0, not logged in",
            "run: codex login, or set CODEX_API_KEY or OPENAI_API_KEY in this shell",
        ),
        (
            "",
            "",
            &[("git", old_git)],
            "git",
            "2.20.1 is too old",
            "install git 2.36 or newer",
        ),
    ] {
        let _ = std::fs::remove_dir_all(scene.env.path("bin"));
        for (name, script) in programs {
            program(&scene, name, script);
        }
        scene
            .env
            .write("project/loopwright.toml", well.replacen(from, to, 1));
        let refused = run(&scene, &START);
        let said = refused.whole();
        assert_eq!(refused.exit, 3, "{said}");
        for expected in [
            &format!("  {subject}: {found}"),
            &format!("help: {help}"),
            "help: `--no-preflight` starts it all the same",
        ] {
            assert!(refused.stderr.contains(expected), "{expected} in {said}");
        }
        let json = run(&scene, &[&START[..], &["--json"]].concat()).json();
        let findings = json["result"]["findings"].as_array().expect("findings");
        let bad: Vec<_> = findings
            .iter()
            .filter(|one| one["level"] == "bad")
            .collect();
        assert!(bad.len() == 1 && bad[0]["found"] == found, "{json}");
        let doctor = run(&scene, &["doctor", "--project", "project"]);
        let line = format!("bad  {subject}: {found}\n     {help}");
        assert!(
            doctor.exit == 3 && doctor.stdout.contains(&line),
            "{line} in {}",
            doctor.whole()
        );
        assert_eq!(scene.env.run(&["list"]).stdout, "", "nothing is recorded");
    }
    assert_eq!(scene.starts(), Vec::<String>::new(), "nothing was paid");
}

#[test]
fn a_loop_starts_without_the_preflight_where_that_is_wanted() {
    let scene = Scene::new(&["one"]);
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        config.replace("test -f README", "no-such-runner"),
    );
    assert_eq!(scene.start(&[]).exit, 3);
    let started = scene.start(&["--no-preflight"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    assert_eq!(
        scene.env.run(&["list", "--json"]).json()["result"]["loops"][0]["status"],
        "running"
    );
}

#[test]
fn an_agent_that_takes_no_part_keeps_nobody_from_starting() {
    let scene = Scene::new(&["one"]);
    scene.configure("[agents.spare]\ncommand = [\"no-such-agent\"]\n");
    let started = scene.start(&["--dry-run"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let warned = "note: agents and checks run on this host with your rights, in no sandbox\n";
    assert!(started.stderr.contains(warned), "{}", started.whole());
    let doctor = scene.env.run(&["doctor", "--project", "project"]);
    assert_eq!(doctor.exit, 3, "{}", doctor.whole());
}

/// Speaks as podman does, and has an image with these programs.
fn podman(programs: &str) -> String {
    podman_with("own:7", programs, "echo looked")
}

/// The same with this image alone, and with what its shell does last. Nothing may be fetched or left.
fn podman_with(image: &str, programs: &str, last: &str) -> String {
    format!(
        "[ \"$1\" = version ] && echo 4.3.1 && exit\n\
         case \"$*\" in \"run --rm --pull never --network none --entrypoint sh {image} -c \"*) ;; *) exit 1 ;; esac\n\
         for program; do case \" {programs} \" in *\" $program \"*) echo \"has $program\" ;; esac; done\n{last}"
    )
}

#[test]
fn in_containers_programs_are_those_of_the_image() {
    let scene = Scene::new(&["one"]);
    let config = scene.env.read("project/loopwright.toml");
    // Nobody has this one here.
    let config = config.replacen("\"sh\"", "\"only-in-image\"", 1);
    let config = config.replace("test -f README", "image-runner --all");
    let more = "[sandbox]\nkind = \"podman\"\nimage = \"own:7\"\n";
    scene.env.write("project/loopwright.toml", config + more);
    let start = [&START[..], &["--dry-run", "--sandbox", "podman"]].concat();
    program(&scene, "podman", &podman("only-in-image sh image-runner"));
    let started = run(&scene, &start);
    assert_eq!(started.exit, 0, "{}", started.whole());
    assert!(
        !started.stderr.contains("only-in-image"),
        "{}",
        started.whole()
    );
    program(&scene, "podman", &podman("sh image-runner"));
    let refused = run(&scene, &start);
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    for expected in [
        "agent: builder: the image `own:7` has no program `only-in-image`",
        "help: build an image that has it, and name it: [sandbox] image = \"...\"",
    ] {
        assert!(refused.stderr.contains(expected), "{}", refused.whole());
    }
    program(&scene, "podman", &podman("only-in-image sh"));
    let refused = run(&scene, &start);
    let said = "check: test: `image-runner --all`, and there is no program `image-runner`";
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    assert!(refused.stderr.contains(said), "{}", refused.whole());
    // An image that cannot be looked into keeps nobody from starting.
    for blind in [
        "[ \"$1\" = version ] && echo 4.3.1".to_owned(),
        podman_with("own:7", "sh", "exit 0"),
        podman_with(
            "own:7",
            "only-in-image sh image-runner",
            "echo looked; exit 3",
        ),
    ] {
        program(&scene, "podman", &blind);
        let started = run(&scene, &start);
        assert_eq!(started.exit, 0, "{blind}: {}", started.whole());
        let said =
            "warning: agent: builder: the image `own:7` cannot be looked into for `only-in-image`";
        assert!(
            started.stderr.contains(said),
            "{blind}: {}",
            started.whole()
        );
    }
}

/// A program with a path is shown inside as it is here, and nobody asks the image for it. Where no image
/// is named, it is the default one.
#[test]
fn a_program_with_a_path_is_not_looked_for_in_the_image() {
    let scene = Scene::new(&["one"]);
    let config = scene.env.read("project/loopwright.toml");
    let config = config.replacen("\"sh\"", "\"/bin/sh\"", 1);
    let config = config.replace("test -f README", "image-runner --all");
    let more = "[sandbox]\nkind = \"podman\"\n";
    scene.env.write("project/loopwright.toml", config + more);
    let start = [&START[..], &["--dry-run", "--sandbox", "podman"]].concat();
    let image = "localhost/loopwright-runner:1";
    let careful = "case \"$*\" in *\" /bin/sh\"*) exit 1 ;; esac; echo looked";
    for (programs, exit) in [("sh image-runner", 0), ("sh", 3)] {
        program(&scene, "podman", &podman_with(image, programs, careful));
        let started = run(&scene, &start);
        assert_eq!(started.exit, exit, "{}", started.whole());
        assert!(!started.stderr.contains("agent:"), "{}", started.whole());
    }
}
