//! Plans in Markdown and files of trackers, through the real program: a whole loop on one of them,
//! and what the commands about PRDs say of each style.

use std::path::Path;

use crate::scene::Scene;
use crate::support::{TestEnv, project};

const PLAN: &str = "# Plan\r\n\r\nA plan as people write it.\r\n\r\n\
## Now\r\n\r\n- [X] Set up the project\r\n- [ ] Add a greeting\r\n  - [ ] in two languages\r\n\
- [ ] Retry the upload (depends on: none)\r\n- [ ] Never finishes\r\n\r\n\
```\r\n- [ ] not a task\r\n```\r\n";

fn start(scene: &Scene, plan: &str, more: &[&str]) -> crate::support::Answer {
    let plan = format!("project/{plan}");
    let begin = ["start", "--project", "project", "--prd", &plan];
    scene.env.run(&[&begin[..], more].concat())
}

#[test]
fn a_loop_on_a_markdown_plan_ticks_the_box_of_every_story_that_passes() {
    let scene = Scene::new(&["unused"]);
    scene.env.write("project/PLAN.md", PLAN);
    let answer = start(&scene, "PLAN.md", &["--foreground"]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    let expected = PLAN
        .replace("- [ ] Add a greeting", "- [X] Add a greeting")
        .replace("- [ ] Retry the upload", "- [X] Retry the upload");
    assert_eq!(scene.env.read("project/PLAN.md"), expected);
    let id = scene.status()["loopId"]
        .as_str()
        .expect("a loop")
        .to_owned();
    let subjects = scene.git(&["log", "--format=%s", &format!("agent-loop/{id}")]);
    assert!(subjects.contains("Add a greeting"), "{subjects}");
    // A box cannot say that a story was skipped, so nothing is owed to the file.
    let doctor = scene.env.run(&["status", &id]);
    assert!(
        !doctor.whole().contains("does not have the state"),
        "{}",
        doctor.whole()
    );
}

#[test]
fn a_loop_on_a_file_without_state_keeps_the_state_itself() {
    let scene = Scene::new(&["unused"]);
    let spec = "# Feature Specification: Cart\n\n### User Story 1 - Keep a cart (Priority: P2)\n\n\
1. **Given** a book, **When** I add it, **Then** it stays\n\n### User Story 2 - Pay (Priority: P1)\n\nAs a reader I pay.\n";
    scene.env.write("project/spec.md", spec);
    let answer = start(&scene, "spec.md", &["--foreground"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let said = "read-only: it has no check box or other place for a story's state; a loop keeps the states of the stories itself";
    assert!(answer.whole().contains(said), "{}", answer.whole());
    assert_eq!(scene.env.read("project/spec.md"), spec);
    let id = scene.status()["loopId"]
        .as_str()
        .expect("a loop")
        .to_owned();
    let status = scene.env.run(&["status", &id, "--json"]).json();
    let passed = status["result"].to_string().matches("\"passed\"").count();
    assert!(passed >= 2, "{status}");
    let again = scene.env.run(&["prd", "mark", "project/spec.md", "US1"]);
    assert_eq!(again.exit, 2);
    assert!(again.stderr.contains("error[PRD021]"), "{}", again.stderr);
}

/// One file per style, with a story that is still to be done.
const STYLES: &[(&str, &str, &str)] = &[
    ("ralph-prd", "prd-notifications-headstate.md", "US-203"),
    ("speckit-tasks", "001-photo-albums_tasks.md", "T005"),
    ("speckit-headings", "002-passkeys_tasks.md", "T004"),
    ("speckit-spec", "001-recipe-scaling_spec.md", "US1"),
    ("impl-plan", "ralph-three-states.md", "IMP-2"),
    ("fix-plan", "requires-quotes.md", "FIX-02"),
    ("plain-boxes", "oppgaver.md", "4"),
    ("table", "progress-table.md", "3"),
    ("openspec", "add-rate-limit_tasks.md", "2.2"),
    ("kiro", "three-levels_tasks.md", "1.2.2"),
    ("beads", "shop_issues.jsonl", "shop-3"),
    ("gh-issues", "open_issues.json", "41"),
    ("backlog-md", "task-12 - Offline-maps.md", "task-12"),
    ("taskmaster", "tasks.json", "3"),
    ("readme", "README.md", "any"),
];

/// The case with this name; the folder has the style before it.
fn case(name: &str) -> Vec<u8> {
    let cases = project().join("crates/prd/tests/cases/plans/files");
    let ending = format!("__{name}");
    let paths = std::fs::read_dir(cases).expect("cases");
    let mut paths = paths.map(|entry| entry.expect("a case").path());
    let path = paths.find(|path| path.to_string_lossy().ends_with(&ending));
    std::fs::read(path.expect("the case")).expect("a readable case")
}

#[test]
fn what_the_commands_say_of_each_style() {
    for (style, name, story) in STYLES {
        let env = TestEnv::new();
        env.write(name, case(name));
        let mut told = String::new();
        for command in [
            &["prd", "check", name][..],
            &["prd", "show", name],
            &["prd", "order", name],
            &["prd", "mark", name, story],
            &["prd", "mark", name, story, "--as", "skipped", "--dry-run"],
            &["prd", "fmt", name, "--write"],
        ] {
            // A JSON file is rewritten by `fmt --write`, which other tests show.
            if command.contains(&"fmt")
                && Path::new(name)
                    .extension()
                    .is_some_and(|ending| ending == "json")
            {
                continue;
            }
            told += &format!(
                "$ loopwright {}\n{}\n",
                command.join(" "),
                env.run(command).whole()
            );
        }
        insta::assert_snapshot!(format!("plan_{style}"), told);
    }
}

#[test]
fn a_plan_can_come_through_a_pipe() {
    let env = TestEnv::new();
    let answer = env.run_with_input(&["prd", "check", "-"], b"# Plan\n\n- [ ] one\n- [x] two\n");
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(
        answer.stdout.contains("2 stories (1 passed, 1 open)"),
        "{}",
        answer.stdout
    );
}
