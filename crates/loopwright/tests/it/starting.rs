//! How a loop is started: where its PRD is looked for, and what a dry run shows.

use crate::scene::{Scene, wait_until};

#[test]
fn a_prd_is_looked_for_in_the_project_and_then_here() {
    let scene = Scene::new(&["one"]);
    let dry = |words: &[&str]| {
        let answer = scene
            .env
            .run(&[&["start", "--dry-run", "--project", "project"], words].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        answer.stdout
    };
    assert!(dry(&["prd.json"]).contains("\n  1. one  Story one\n"));
    assert!(dry(&["--prd", "prd.json"]).contains("  1. one"));
    assert!(dry(&["project/prd.json"]).contains("  1. one"));
    // The project's own file wins over one of the same name here.
    scene.env.write(
        "prd.json",
        r#"{"stories": [{"id": "other", "title": "Other", "acceptance_criteria": ["x"]}]}"#,
    );
    assert!(dry(&["prd.json"]).contains("  1. one"));
    scene.env.write(
        "only-here.json",
        r#"{"stories": [{"id": "other", "title": "Other", "acceptance_criteria": ["x"]}]}"#,
    );
    assert!(dry(&["only-here.json"]).contains("  1. other"));

    for (words, says) in [
        (&["start", "--project", "project"][..], "<PRD>"),
        (
            &["start", "a.json", "--prd", "b.json"],
            "cannot be used with",
        ),
        (
            &["start", "--project", "project", "gone.json"],
            "cannot find `gone.json`",
        ),
    ] {
        let answer = scene.env.run(words);
        assert!(
            answer.exit == 2 && answer.stderr.contains(says),
            "{}",
            answer.whole()
        );
    }
}

#[test]
fn a_dry_run_shows_order_casting_checks_limits_and_branch() {
    let scene = Scene::new(&["one"]);
    scene.configure("[budget]\nhours = 4\n");
    scene.env.write(
        "project/prd.json",
        r#"{"branchName": "night-work", "stories": [
            {"id": "late", "title": "Late", "priority": 1, "depends_on": ["early"], "acceptance_criteria": ["x"]},
            {"id": "early", "title": "Early", "priority": 2, "acceptance_criteria": ["x"]},
            {"id": "mine", "title": "Mine", "priority": 3, "tool": "judge", "acceptance_criteria": ["x"]}]}"#,
    );
    let base = scene.git(&["rev-parse", "HEAD"]);
    let answer = scene
        .env
        .run(&["start", "--dry-run", "--project", "project", "prd.json"]);
    let expected = format!(
        "a loop would do 3 stories, in this order:\n  1. early  Early\n  2. late   Late\n  \
         3. mine   Mine  (by judge)\nfrom {}, onto a new branch night-work\n\
         flow judged, implementor builder, judge judge; at most 3 attempts at each story\n\
         test: test -f README\nlimits: 240 minutes of runs, 3600 s for each check command\n\
         agents and checks run on this host with your rights, in no sandbox\n",
        &base[..12]
    );
    assert_eq!(answer.stdout, expected, "{}", answer.whole());
    assert!(
        answer
            .stderr
            .ends_with("nothing was started; the same without `--dry-run` starts it\n"),
        "{}",
        answer.whole()
    );
    assert_eq!(scene.env.run(&["list"]).stdout, "");
}

#[test]
fn the_verbs_about_loops_have_one_name_too() {
    let scene = Scene::new(&["one"]);
    let started = scene.env.run(&[
        "loop",
        "start",
        "--project",
        "project",
        "prd.json",
        "--foreground",
        "--json",
    ]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let id = started.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    for words in [
        &["loop", "status", &id][..],
        &["loop", "list"],
        &["loop", "nuke", &id],
    ] {
        assert_eq!(scene.env.run(words).exit, 0, "{words:?}");
    }
}

/// The stories that the first loop has done are no reason to refuse a second one: the first loop is.
#[test]
fn a_second_loop_on_a_prd_is_refused_for_the_first_one() {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    let script = scene.env.read("agents/implement.sh");
    let wait = format!(
        "while [ \"$LOOPWRIGHT_STORY_ID\" = two ] && [ ! -f {} ]; do sleep 0.05; done\n{script}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", wait);
    let started = scene.start(&["--json"]).json();
    let id = started["result"]["loopId"].as_str().expect("an id");
    wait_until("the first story in the PRD", || {
        let prd = scene.env.read("project/prd.json");
        prd.contains("true").then_some(())
    });
    let message = format!("error: loop {id} is at work on `");
    for words in [&[][..], &["--dry-run"]] {
        let refused = scene.start(words);
        assert_eq!(refused.exit, 2, "{}", refused.whole());
        assert!(refused.stderr.starts_with(&message), "{}", refused.whole());
        assert!(
            !refused.stderr.contains("passed"),
            "what it has done does not matter: {}",
            refused.whole()
        );
    }
    std::fs::write(&gate, "").expect("written");
    scene.wait_for(&["completed"]);
}

/// Whoever stands in a subfolder means the project above it, and a file beside them first.
#[test]
fn a_subfolder_has_the_configuration_of_the_project_above_it() {
    let scene = Scene::new(&["one"]);
    std::fs::create_dir_all(scene.env.path("project/src/deep")).expect("folders");
    let run = |words: &[&str]| {
        let mut command = scene.env.command(words);
        command.current_dir(scene.env.path("project/src/deep"));
        let output = scene.env.output(&mut command);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (exit, page, said) = run(&["start", "--dry-run", "prd.json"]);
    assert_eq!(exit, Some(0), "{page}{said}");
    assert!(page.contains("  1. one  Story one\n"), "{page}");
    assert!(page.contains("test: test -f README\n"), "{page}");
    let (exit, page, said) = run(&["doctor"]);
    assert_eq!(exit, Some(0), "{page}{said}");
    assert!(page.contains("ok   agent: builder runs `sh`\n"), "{page}");
    let (_, _, said) = run(&["config", "show"]);
    assert!(
        said.contains("the project's file: ../../loopwright.toml\n"),
        "{said}"
    );
    let (exit, _, said) = run(&["init"]);
    assert_eq!(exit, Some(2), "{said}");
    let expected = "help: `loopwright init --project .` makes one for this folder alone\n";
    assert!(said.ends_with(expected), "{said}");
    scene.env.write(
        "project/src/deep/prd.json",
        r#"{"stories": [{"id": "here", "title": "Here", "acceptance_criteria": ["x"]}]}"#,
    );
    let (_, page, _) = run(&["start", "--dry-run", "prd.json"]);
    assert!(page.contains("  1. here  Here\n"), "{page}");
}
