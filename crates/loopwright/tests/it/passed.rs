//! Stories that passed before: whether their commits are in what a loop starts from, and what is
//! noted of the others.

use crate::scene::{Scene, processes_with, wait_until};

fn done(scene: &Scene) -> String {
    let answer = scene.start(&["--foreground", "--json", "--max-iterations", "1"]);
    answer.json()["result"]["branch"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", answer.whole()))
        .to_owned()
}

fn open_stories(scene: &Scene, more: &[&str]) -> (i32, Vec<String>, serde_json::Value) {
    let answer = scene.start(&[&["--dry-run", "--json"][..], more].concat());
    let json = answer.json();
    let stories = json["result"]["spec"]["stories"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let open = stories.iter().filter(|story| story["start"] == "open");
    (
        answer.exit,
        open.filter_map(|story| story["id"].as_str().map(str::to_owned))
            .collect(),
        json,
    )
}

#[test]
fn a_loop_does_not_start_without_accepted_work_unless_a_person_says_so() {
    // The second id holds what a pattern would take for something else.
    let scene = Scene::new(&["one", "two.*"]);
    let branch = done(&scene);
    let stopped = scene.start(&[]);
    assert_eq!(stopped.exit, 2, "{}", stopped.whole());
    let expected = format!(
        "error: marked as passed, and their commits are not in what the loop would start from: one\n\
         help: `--onto {branch}` starts from the branch that has them\nhelp: `--rerun-passed` does them again\n\
         help: `--trust-passed` believes the PRD, as after a merge that dropped their trailers\n"
    );
    assert_eq!(stopped.stderr, expected);
    let (exit, _, json) = open_stories(&scene, &[]);
    assert_eq!(exit, 2, "a dry run stops as well");
    let actions: Vec<&str> = json["next_actions"]
        .as_array()
        .expect("actions")
        .iter()
        .filter_map(|action| action["command"].as_str())
        .map(|command| {
            command
                .split(" project/prd.json ")
                .nth(1)
                .unwrap_or(command)
        })
        .collect();
    assert_eq!(
        actions,
        [
            &*format!("--onto {branch}"),
            "--rerun-passed",
            "--trust-passed"
        ]
    );
    for (more, expected) in [
        (&["--rerun-passed"][..], &["one", "two.*"][..]),
        (&["--trust-passed"], &["two.*"]),
        (&["--onto", &branch], &["two.*"]),
        (&["--base", &branch], &["two.*"]),
    ] {
        let (exit, open, json) = open_stories(&scene, more);
        assert_eq!(
            (exit, open.as_slice()),
            (
                0,
                &expected
                    .iter()
                    .map(|id| (*id).to_owned())
                    .collect::<Vec<_>>()[..]
            ),
            "{json}"
        );
    }
    let both = scene.start(&["--onto", &branch, "--base", "main"]);
    assert!(
        both.exit == 2 && both.stderr.contains("cannot be used with"),
        "{}",
        both.whole()
    );
    let onto = scene
        .start(&["--onto", &branch, "--foreground", "--json"])
        .json();
    assert_eq!(onto["result"]["status"], "completed", "{onto}");
    // The operator takes the work over by other commits: nothing is asked any more.
    scene.git(&["checkout", "--quiet", "prd.json"]);
    scene.git(&["commit", "--quiet", "--allow-empty", "-m", "meanwhile"]);
    scene.git(&["cherry-pick", &branch]);
    scene.env.write(
        "project/prd.json",
        scene
            .env
            .read("project/prd.json")
            .replacen("false", "true", 1),
    );
    let (exit, open, json) = open_stories(&scene, &[]);
    assert_eq!((exit, open), (0, vec!["two.*".to_owned()]), "{json}");
}

#[test]
fn a_story_that_was_marked_by_hand_is_believed_and_named() {
    let scene = Scene::new(&["one", "two"]);
    scene.env.write(
        "project/prd.json",
        scene
            .env
            .read("project/prd.json")
            .replacen("false", "true", 1),
    );
    let (exit, open, json) = open_stories(&scene, &[]);
    assert_eq!((exit, open), (0, vec!["two".to_owned()]), "{json}");
    let expected = "marked as passed, with no commit of ours; the PRD is believed: one";
    let remarks = json["result"]["remarks"].as_array().expect("remarks");
    assert!(remarks.iter().any(|remark| remark == expected), "{json}");
}

#[test]
fn progress_is_shown_and_written_only_where_that_is_wanted() {
    let scene = Scene::new(&["one", "never-two"]);
    let quiet = scene
        .start(&["--foreground", "--json", "--max-retries", "0"])
        .json();
    let lines: Vec<String> = quiet["result"]["progress"]
        .as_array()
        .expect("progress")
        .iter()
        .map(|line| format!("{} {} {}", line["storyId"], line["status"], line["attempt"]))
        .collect();
    assert_eq!(lines, [r#""one" "passed" 1"#, r#""never-two" "skipped" 1"#]);
    assert!(!scene.env.path("project/progress.txt").exists());
    let id = quiet["result"]["loopId"].as_str().expect("an id");
    let text = scene.env.run(&["status", id]).stdout;
    assert!(
        text.contains("\nprogress\n  20")
            && text.contains("[never-two] skipped, attempt 1: scripted"),
        "{text}"
    );
    scene.git(&["checkout", "--quiet", "prd.json"]);
    let notes = "# Notes\n\n## Codebase Patterns\n- use tabs\n";
    scene.env.write("project/progress.txt", notes);
    let loud = scene
        .start(&[
            "--foreground",
            "--json",
            "--max-retries",
            "0",
            "--write-progress",
        ])
        .json();
    let id = loud["result"]["loopId"].as_str().expect("an id");
    let commit = &loud["result"]["stories"][0]["commitSha"]
        .as_str()
        .expect("a commit")[..12];
    let written = scene.env.read("project/progress.txt");
    let (kept, new) = written.split_at(notes.len());
    assert_eq!(kept, notes);
    let dateless: Vec<String> = new
        .lines()
        .map(|line| {
            line.chars()
                .skip(if line.starts_with("- ") { 23 } else { 0 })
                .collect()
        })
        .collect();
    let expected = [
        String::new(),
        format!("## Loop {id}"),
        format!("[one] passed, attempt 1, {commit}: Story one"),
        "[never-two] skipped, attempt 1: scripted".to_owned(),
    ];
    assert_eq!(dateless, expected, "{new}");
    wait_until("the last worker's end", || {
        processes_with(&scene.home()).is_empty().then_some(())
    });
}
