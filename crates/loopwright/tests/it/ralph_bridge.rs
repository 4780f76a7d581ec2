//! A full loop on a task graph takes the same claims as `ralph` and `task`: no task is done twice.

use serde_json::Value;

use crate::scene::{IMPLEMENT, Scene};

/// `B` waits for `A`; `C` and `D` stand alone.
const GRAPH: &str = "nodes:
  - {id: A, title: First, status: ready}
  - {id: B, title: Second, status: pending, depends_on: [A]}
  - {id: C, title: Third, status: ready}
  - {id: D, title: Fourth, status: ready}
";

/// A project with the graph under an unusual name: the reader knows a graph by its form.
fn scene() -> Scene {
    let scene = Scene::new(&["unused"]);
    scene.env.write("project/work.yaml", GRAPH);
    scene
}

fn start(scene: &Scene, more: &[&str]) -> crate::support::Answer {
    let words = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/work.yaml",
    ];
    scene.env.run(&[&words[..], more].concat())
}

fn task(scene: &Scene, words: &[&str]) -> crate::support::Answer {
    let plan = ["--project", "project", "--prd", "work.yaml"];
    scene.env.run(&[&["task"], words, &plan].concat())
}

fn states(scene: &Scene) -> String {
    let answer = task(scene, &["status", "--json"]).json();
    let tasks = answer["result"]["tasks"].as_array().cloned();
    let of = |task: &Value, key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let word = |task: &Value| format!("{} {}", of(task, "id"), of(task, "status"));
    let words: Vec<String> = tasks.unwrap_or_default().iter().map(word).collect();
    words.join(", ")
}

fn stories_done(scene: &Scene) -> Vec<String> {
    let view = scene.wait_for(&["completed"]);
    let stories = view["stories"].as_array().cloned().unwrap_or_default();
    let of = |story: &Value, key: &str| story[key].as_str().unwrap_or_default().to_owned();
    let word = |story: &Value| format!("{} {}", of(story, "id"), of(story, "status"));
    stories.iter().map(word).collect()
}

#[test]
fn a_loop_leaves_out_what_somebody_holds_and_what_is_complete() {
    let scene = scene();
    assert_eq!(task(&scene, &["claim", "A"]).exit, 0);
    assert_eq!(task(&scene, &["complete", "D"]).exit, 0);
    // Another work tree's file does not know that yet.
    let file = scene.env.read("project/work.yaml");
    let stale = file.replace("status: complete", "status: ready");
    scene.env.write("project/work.yaml", stale);
    let dry = start(&scene, &["--dry-run"]);
    assert!(dry.stdout.contains("1. C  Third\n"), "{}", dry.whole());
    let answer = start(&scene, &[]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(
        answer
            .stderr
            .contains("complete in the claim store, and not done again: D\n"),
        "{}",
        answer.whole()
    );
    let named = "left out, because somebody else works on them: A (";
    assert!(answer.stderr.contains(named), "{}", answer.whole());
    let done = stories_done(&scene);
    assert_eq!(done, ["A skipped", "B blocked", "C passed", "D passed"]);
    assert_eq!(
        states(&scene),
        "A in_progress, B blocked, C complete, D complete"
    );
    let starts = scene.starts();
    assert_eq!(starts.len(), 2, "one implementor, one judge: {starts:?}");
}

#[test]
fn a_loop_without_a_task_of_its_own_is_refused() {
    let scene = scene();
    for id in ["A", "C", "D"] {
        assert_eq!(task(&scene, &["claim", id]).exit, 0);
    }
    task(&scene, &["complete", "B", "--force"]);
    let answer = start(&scene, &[]);
    assert_eq!(answer.exit, 2, "{}", answer.whole());
    let says = "somebody else works on every open task of `";
    assert!(answer.stderr.contains(says), "{}", answer.whole());
    for id in ["A (", "C (", "D ("] {
        assert!(answer.stderr.contains(id), "{}", answer.whole());
    }
    assert_eq!(scene.env.run(&["list"]).stdout, "", "no loop was started");
}

/// While a loop is at work its tasks are nobody else's, also those that it got to know later. Its claims
/// are not written into the file.
#[test]
fn a_loop_at_work_holds_its_tasks() {
    let scene = scene();
    let gate = scene.env.path("gate");
    let script = format!(
        "while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", script);
    let started = start(&scene, &["--json"]).json();
    let id = started["result"]["loopId"].as_str().expect("an id");
    assert_eq!(scene.env.read("project/work.yaml"), GRAPH);
    let refused = task(&scene, &["claim", "C"]);
    assert_eq!(refused.exit, 1, "{}", refused.whole());
    let by = format!("`C` is held by loop {id}");
    assert!(refused.stderr.contains(&by), "{}", refused.whole());
    assert_eq!(task(&scene, &["next"]).exit, 1);
    let second = start(&scene, &[]);
    let at_work = format!("loop {id} is at work on");
    assert!(second.stderr.contains(&at_work), "{}", second.whole());
    let more = format!(
        "{GRAPH}  - {{id: E, title: Fifth, status: ready}}\n  - {{id: F, title: Sixth, status: ready}}\n"
    );
    scene.env.write("project/work.yaml", more);
    assert_eq!(task(&scene, &["claim", "E"]).exit, 0);
    let reloaded = scene.env.run(&["resume", id, "--reload"]);
    assert!(
        reloaded
            .stderr
            .contains("left out, because somebody else works on them: E ("),
        "{}",
        reloaded.whole()
    );
    assert_eq!(task(&scene, &["claim", "F"]).exit, 1, "the loop has it");
    std::fs::write(&gate, "").expect("written");
    let done = stories_done(&scene);
    let passed = ["A", "B", "C", "D"].map(|id| format!("{id} passed"));
    assert_eq!(done[..4], passed);
    assert_eq!(done[4..], ["E skipped", "F passed"]);
}
