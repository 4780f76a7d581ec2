//! Writing a state and taking it back leaves every byte as it was.

use std::fs;

use tasks::{Caller, Force};

use crate::support::{Scene, claim, states};

/// The published form of a task graph.
const PUBLISHED: &str = r#"version: "1.0"
last_updated: "2026-02-05"
milestones:
  - id: M1
    title: Introspection
    status: pending
stories: []
nodes:
  - id: T-024-01
    title: Verify the stack works end-to-end
    story: S-024
    priority: 1
    complexity: S
    status: ready
    assignee: null
    path: docs/active/tickets/T-024-01-verify.md
  - id: T-024-02
    title: 'Create the "client" module'   # soon
    story: S-024
    milestone: M1
    description: |
      A single place.
    priority: 1
    status: pending
edges:
  - from: T-024-01
    to: T-024-02
meta:
  total_tasks: 2
"#;

#[test]
fn the_published_graph_comes_back_byte_by_byte() {
    let scene = Scene::new();
    let tasks = scene.tree("one", PUBLISHED);
    let caller = Caller::person();
    let with = |word: &str| {
        let status = format!("    status: {word}\n");
        PUBLISHED.replacen("    status: ready\n", &status, 1)
    };
    claim(&tasks, "T-024-01").expect("claimed");
    assert_eq!(scene.text("one"), with("in_progress"));
    tasks
        .complete("T-024-01", &caller, Force::No)
        .expect("complete");
    assert_eq!(scene.text("one"), with("complete"));
    tasks.reset("T-024-01", &caller, Force::No).expect("reset");
    assert_eq!(scene.text("one"), PUBLISHED);
    // Nobody claimed it, so that no word is remembered: the file's own word for what is open.
    tasks
        .complete("T-024-01", &caller, Force::No)
        .expect("complete");
    tasks.reset("T-024-01", &caller, Force::No).expect("reset");
    assert_eq!(scene.text("one"), with("pending"));
}

#[test]
fn a_refresh_keeps_what_is_no_task_and_is_the_same_twice() {
    let scene = Scene::new();
    let tasks = scene.tree("one", PUBLISHED);
    let folder = scene.root("one").join("docs/active/tickets");
    fs::create_dir_all(&folder).expect("a folder");
    let ticket = |id: &str, front: &str| {
        let text = format!(
            "---\nid: {id}\ntitle: \"On: {id}\"\nstatus: ready\npriority: 1\n{front}---\n\n# {id}\n\nWords:\n\n- more\n\n## Acceptance Criteria\n\n- [ ] it is there\n"
        );
        fs::write(folder.join(format!("{id}-x.md")), text).expect("written");
    };
    ticket("T-1", "output: out.md\nblocks: [T-9]\n");
    ticket("T-2", "depends_on: [T-1]\n");
    let (made, _) = tasks.refresh(&folder).expect("refreshed");
    assert_eq!(made.n_tasks, 2);
    let text = scene.text("one");
    for kept in ["id: M1", "total_tasks: 2", "last_updated", "output: out.md"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert_eq!(states(&tasks), "T-1 ready, T-2 blocked");
    tasks.refresh(&folder).expect("again");
    assert_eq!(scene.text("one"), text);
    ticket("T-2", "depends_on: [T-3]\n");
    tasks.refresh(&folder).expect_err("T-3 is not there");
    ticket("T-2", "depends_on: [T-1]\nblocks: [T-1]\n");
    tasks.refresh(&folder).expect_err("a ring");
    assert_eq!(scene.text("one"), text, "nothing is saved");
}
