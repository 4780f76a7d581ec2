//! `loopwright diff`, `checkout` and `report`: the work of a story or a loop, accepted or not, for
//! people.

use crate::scene::Scene;

/// One new file per story and attempt, with something in it that would act on a terminal.
const IMPLEMENT: &str = "cat > /dev/null\n\
    printf 'work of %s attempt %s \\033[31m\\n' \"$LOOPWRIGHT_STORY_ID\" \"$LOOPWRIGHT_ATTEMPT\" > \"$LOOPWRIGHT_STORY_ID.txt\"\n";

fn played() -> (Scene, String) {
    let scene = Scene::with_agents(&["retry-one", "never-two"], IMPLEMENT, crate::scene::JUDGE);
    let started = scene.start(&[
        "--foreground",
        "--max-retries",
        "1",
        "--flow",
        "judged",
        "--json",
    ]);
    let id = started.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    (scene, id)
}

#[test]
fn the_work_of_a_story_is_shown_whether_it_landed_or_not() {
    let (scene, id) = played();
    let shown = |words: &[&str]| {
        let answer = scene.env.run(&[&["diff", &id], words].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        answer
    };
    let accepted = shown(&["retry-one"]);
    assert!(
        accepted.stdout.contains("+work of retry-one attempt 2"),
        "{}",
        accepted.whole()
    );
    assert!(
        accepted.stderr.contains("attempt 2: accepted"),
        "{}",
        accepted.whole()
    );
    assert!(!accepted.stdout.contains('\u{1b}') && accepted.stdout.contains(r"\x1b[31m"));
    let rejected = shown(&["retry-one", "--attempt", "1"]);
    assert!(
        rejected.stdout.contains("+work of retry-one attempt 1"),
        "{}",
        rejected.whole()
    );
    let skipped = shown(&["never-two"]);
    assert!(
        skipped.stdout.contains("+work of never-two attempt 2"),
        "{}",
        skipped.whole()
    );
    assert!(
        skipped.stderr.contains("attempt 2: rejected"),
        "{}",
        skipped.whole()
    );
    let whole = shown(&[]);
    assert!(whole.stdout.contains("retry-one.txt") && !whole.stdout.contains("never-two"));
    let stat = shown(&["retry-one", "--stat"]);
    assert!(
        stat.stdout.contains("retry-one.txt | 1 +"),
        "{}",
        stat.whole()
    );
    let coloured = shown(&["retry-one", "--color", "always"]);
    assert!(
        coloured.stdout.contains("\u{1b}[32m+work of"),
        "{}",
        coloured.whole()
    );

    for (words, says) in [
        (vec!["diff", &id, "retry-onn"], "did you mean `retry-one`?"),
        (
            vec!["diff", &id, "retry-one", "--attempt", "7"],
            "no attempt 7",
        ),
        (vec!["diff", "nobody"], "there is no loop `nobody`"),
        (vec!["diff", &id, "--attempt", "1"], "none is named"),
    ] {
        let answer = scene.env.run(&words);
        assert_eq!(answer.exit, 2, "{}", answer.whole());
        assert!(answer.stderr.contains(says), "{}", answer.whole());
    }
}

#[test]
fn rejected_work_can_be_tried_in_a_folder_of_its_own() {
    let (scene, id) = played();
    let state = || {
        [
            scene.git(&["for-each-ref"]),
            scene.git(&["status", "--porcelain"]),
            scene.git(&["log", "-1"]),
        ]
    };
    let before = state();
    let answer = scene
        .env
        .run(&["checkout", &id, "never-two", "tried", "--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let text = scene.env.read("tried/never-two.txt");
    assert!(text.starts_with("work of never-two attempt 2"), "{text}");
    let commit = answer.json()["result"]["commitSha"]
        .as_str()
        .expect("a commit")
        .to_owned();
    let tried = scene.env.path("tried");
    assert_eq!(testkit::git(&tried, &["rev-parse", "HEAD"]), commit);
    assert_eq!(
        state(),
        before,
        "no branch is made or moved, no file changed"
    );

    let again = scene.env.run(&["checkout", &id, "never-two", "tried"]);
    assert_eq!(again.exit, 2, "{}", again.whole());
    assert!(
        again.stderr.contains("is there already"),
        "{}",
        again.whole()
    );
    // Without a name it is beside the project.
    let beside = scene.env.run(&["checkout", &id, "retry-one"]);
    assert_eq!(beside.exit, 0, "{}", beside.whole());
    let folder = std::path::PathBuf::from(beside.stdout.trim());
    assert_eq!(folder.parent(), scene.project().parent());
    assert!(folder.join("retry-one.txt").is_file());
}

#[test]
fn a_loop_is_told_on_one_page() {
    let (scene, id) = played();
    let text = scene.env.run(&["report", &id]);
    assert_eq!(text.exit, 0, "{}", text.whole());
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert!(
        lines[0].starts_with(&format!("loop {id}: completed in ")),
        "{}",
        text.stdout
    );
    assert!(
        lines[0].ends_with(": 1 passed, 1 skipped"),
        "{}",
        text.stdout
    );
    for says in [
        "  passed   retry-one  Story retry-one  2 attempts, ",
        "  skipped  never-two  Story never-two  2 attempts, ",
        "\ncost\n  builder unknown + judge unknown\n  implementor builder: 4 runs, cost unknown\n",
        "\ncaught before it landed\n  judge: retry-one (attempt 1): scripted\n",
    ] {
        assert!(text.stdout.contains(says), "{says} in {}", text.stdout);
    }
    let markdown = scene.env.run(&["report", &id, "--markdown"]).stdout;
    assert!(markdown.starts_with("## Completed in "), "{markdown}");
    assert!(
        markdown.contains("| retry-one: Story retry-one | passed | 2 | "),
        "{markdown}"
    );
    assert!(
        markdown.contains("### Caught before it landed\n\n- judge: retry-one"),
        "{markdown}"
    );
    let data = scene.env.run(&["report", &id, "--json"]).json()["result"].clone();
    assert_eq!(data["loop"]["loopId"], id.as_str());
    assert_eq!(data["caught"][0]["by"], "judge");
    assert!(data["durationMs"].is_u64() && data["duration"].is_string());
}

#[test]
fn verbs_that_only_look_take_the_newest_loop_of_this_folder() {
    let (scene, id) = played();
    std::fs::create_dir(scene.env.path("elsewhere")).expect("a folder");
    let run_in = |folder: &str, words: &[&str]| {
        let mut command = scene.env.command(words);
        scene
            .env
            .output(command.current_dir(scene.env.path(folder)))
    };
    for words in [
        &["report"][..],
        &["diff", "--json"],
        &["events", "--json"],
        &["logs", "--json"],
        &["watch"],
    ] {
        let output = run_in("project", words);
        assert!(
            output.status.code().is_some_and(|code| code <= 1),
            "{words:?}"
        );
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains(&id), "{words:?}: {said}");
        let output = run_in("elsewhere", words);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            said.contains("no loop has worked on this folder"),
            "{words:?}: {said}"
        );
    }
    // A part of the id is enough, its end too.
    assert_eq!(scene.env.run(&["status", &id[20..]]).exit, 0);
}

#[test]
fn logs_are_shown_without_acting_on_a_terminal() {
    let implement = format!("{IMPLEMENT}printf 'one\\ntwo\\nthree \\033[2J\\n'\n");
    let scene = Scene::with_agents(&["one"], &implement, crate::scene::JUDGE);
    let started = scene.start(&["--foreground", "--flow", "judged"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let logs = |words: &[&str]| {
        let answer = scene.env.run(&[&["logs"], words].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        answer.stdout
    };
    let all = logs(&[]);
    assert!(
        all.contains("one\ntwo\nthree \\x1b[2J\n") && !all.contains('\u{1b}'),
        "{all}"
    );
    assert!(logs(&["--raw"]).contains("three \u{1b}[2J"));
    let tail = logs(&["--role", "implementor", "--tail", "2"]);
    assert!(
        tail.ends_with("two\nthree \\x1b[2J\n") && !tail.contains("one\n"),
        "{tail}"
    );
    assert!(!tail.contains("verdict") && logs(&["--role", "judge"]).contains("verdict"));
    let none = scene.env.run(&["logs", "--role", "nobody"]);
    assert!(
        none.exit == 2 && none.stderr.contains("no run fits"),
        "{}",
        none.whole()
    );
}
