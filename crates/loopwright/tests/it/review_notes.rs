//! A story that nobody could finish asks for a person, wherever a person looks.

use crate::scene::{IMPLEMENT, JUDGE, Scene};

#[test]
fn a_skipped_story_asks_for_a_person_in_the_prd_in_status_and_in_the_progress() {
    let implement = format!(
        "{IMPLEMENT}echo \"{{\\\"learned\\\": [\\\"$LOOPWRIGHT_STORY_ID needs care $LOOPWRIGHT_ATTEMPT\\\"]}}\"\n"
    );
    let scene = Scene::with_agents(&["retry-one", "never-two"], &implement, JUDGE);
    let prd = r#"{ "stories": [
  { "id": "retry-one", "title": "One", "acceptance_criteria": ["it is there"], "passes": false, "notes": "mine" },
  { "id": "never-two", "title": "Two", "acceptance_criteria": ["it is there"], "passes": false, "notes": "m\u0069ne" }
] }
"#;
    scene.env.write("project/prd.json", prd);
    scene.configure("[loop]\nmax_retries = 1\nwrite_progress = true\n");
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let passed = prd.replacen("\"passes\": false", "\"passes\": true", 1);
    let skipped = passed.replace(
        r#""m\u0069ne""#,
        r#""m\u0069ne\nNEEDS HUMAN REVIEW: scripted", "skipped": true"#,
    );
    assert_eq!(scene.env.read("project/prd.json"), skipped);
    let mut lines = ended.stdout.lines();
    assert!(
        lines.any(|line| line.starts_with("  skipped  never-two  Two "))
            && lines.next() == Some("           NEEDS HUMAN REVIEW:"),
        "{}",
        ended.whole()
    );
    let progress = scene.env.read("project/progress.txt");
    let taught: Vec<&str> = progress
        .lines()
        .filter(|line| line.starts_with("  - "))
        .collect();
    assert_eq!(
        taught,
        [
            "  - rejected: scripted",
            "  - learned: retry-one needs care 1",
            "  - learned: retry-one needs care 2",
            "  - learned: never-two needs care 1",
            "  - learned: never-two needs care 2",
        ],
        "{progress}"
    );
    // Once it is open again, nobody needs to look.
    let opened = scene.env.run(&[
        "prd",
        "mark",
        "project/prd.json",
        "never-two",
        "--as",
        "open",
    ]);
    assert_eq!(opened.exit, 0, "{}", opened.whole());
    let open = skipped
        .replace(r"\nNEEDS HUMAN REVIEW: scripted", "")
        .replace("\"skipped\": true", "\"skipped\": false");
    assert_eq!(scene.env.read("project/prd.json"), open);
}
