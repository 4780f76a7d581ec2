//! The task-graph loop with programs of others: the real `just`, and the real claude CLI against the
//! scripted model.

use std::path::PathBuf;
use std::process::Command;

use testkit::{ModelServer, Step};

use crate::ralph::Scene;
use crate::real_agents::Stage;

const ONE: &str = "nodes:
  - {id: T-1, title: Write a greeting, description: Write hello into greeting.txt, status: ready, output: greeting.txt}
edges: []
";

/// The recipes that `init --just` writes, as people type them.
#[test]
fn real_just_recipes_work() {
    let scene = Scene::new(ONE);
    let answer = scene.run(&["init", "--just"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_loopwright"));
    let folder = program.parent().expect("a folder");
    let tools = folder.parent().expect("the target folder").join("tools");
    let is_just = |path: &PathBuf| path.join("bin/just").is_file();
    let installed = std::fs::read_dir(tools).expect("the tools: cargo xtask ci --only packages");
    let mut installed = installed.flatten().map(|entry| entry.path());
    let tool = installed
        .find(is_just)
        .expect("just: cargo xtask ci --only packages");
    let path = format!(
        "{}:{}",
        tool.join("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let just = |words: &[&str]| {
        let mut command = Command::new(tool.join("bin/just"));
        command.args(words).current_dir(scene.repo()).env_clear();
        command
            .env("HOME", scene.env.path(""))
            .env("LOOPWRIGHT_SANDBOX_KIND", "host")
            .env("PATH", format!("{}:{path}", folder.display()));
        let output = command.output().expect("just runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, stdout, _) = just(&["prompt"]);
    assert_eq!(code, Some(0));
    assert!(
        stdout.starts_with("# Task T-1: Write a greeting\n"),
        "{stdout}"
    );
    let (code, _, stderr) = just(&["task-complete", "T-1"]);
    assert_eq!(code, Some(1), "its output is missing: {stderr}");
    let agent = "cat > /dev/null; echo hello > greeting.txt; just task-complete T-1";
    let agent = scene.agent("agent.sh", agent);
    let (code, stdout, stderr) = just(&["ralph", "--pause", "0", "--agent", &format!("'{agent}'")]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let (_, stdout, _) = just(&["dag-status"]);
    assert!(stdout.contains("1 task: 1 complete"), "{stdout}");
    let (code, ..) = just(&["prompt"]);
    assert_eq!(code, Some(1), "nothing is left");
    assert_eq!(just(&["task-reset", "T-1"]).0, Some(0));
    let (_, stdout, _) = just(&["dag-status"]);
    assert!(stdout.contains("1 task: 1 ready"), "{stdout}");
    let (code, _, stderr) = just(&["dag-refresh"]);
    assert_eq!(code, Some(2), "there are no tickets: {stderr}");
}

/// The real claude reads the prompt, does the work with its own tools, and completes the task itself.
#[test]
fn real_claude_completes_its_task() {
    let stage = Stage::new();
    let server = ModelServer::answering(0, |request| match request.n_tool_results() {
        0 => Step::shell("echo hello > greeting.txt"),
        1 => Step::shell("loopwright task complete T-1"),
        _ => Step::text("Done."),
    });
    stage.env.write("project/task-graph.yaml", ONE);
    let agent = stage.agent("claude", &server.url());
    stage.env.write("project/loopwright.toml", agent);
    let mut command = stage
        .env
        .command(&["ralph", "--agent", "claude", "--pause", "0"]);
    command.current_dir(stage.env.path("project"));
    let output = stage.env.output(&mut command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("1 completed, 0 failed"), "{stdout}{stderr}");
    assert!(
        stdout.contains("tokens"),
        "claude tells what it used: {stdout}"
    );
    let graph = stage.env.read("project/task-graph.yaml");
    assert!(graph.contains("status: complete"), "{graph}");
}
