//! `loopwright diff` and `loopwright checkout`: a story's work, accepted or not, for people.

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
        (vec!["diff", &id, "retry-on"], "did you mean `retry-one`?"),
        (
            vec!["diff", &id, "retry-one", "--attempt", "7"],
            "no attempt 7",
        ),
        (vec!["diff", "nobody"], "there is no loop `nobody`"),
        (vec!["diff", &id, "--attempt", "1"], "<STORY>"),
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
