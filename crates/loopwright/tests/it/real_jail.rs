//! Whole loops with the real agent CLIs, each run in a jail of its own: the model is a service of the
//! host that the person allows by its address, and nothing else can be reached.

use kernel::RunOutcome;
use serde_json::{Value, json};
use testkit::{ModelServer, Request, Step};

use crate::real_agents::{Stage, mind, mind_at_once};
use crate::sample::sample;

/// Everything passes in a jail, after so many attempts as this model needs.
fn quartet(
    (implementor, reviewer, judge): (&str, &str, &str),
    mind: fn(&Request) -> Step,
    attempts: u32,
) {
    let stage = Stage::new();
    let server = ModelServer::answering(0, mind);
    let url = server.url();
    let mut names = vec![implementor, reviewer, judge];
    names.sort_unstable();
    names.dedup();
    let agents: Vec<String> = names.iter().map(|name| stage.agent(name, &url)).collect();
    let address = url.trim_start_matches("http://");
    let sandbox = format!("[sandbox]\nkind = \"bwrap\"\nallow = [\"{address}\"]\n");
    stage.cast(implementor, reviewer, judge, &agents, &sandbox);
    let started = stage.start(&["--sandbox", "bwrap"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = stage.wait_for("completed");
    assert_eq!(view["isolation"], "bwrap");
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
    assert_eq!(view["stories"][0]["attempts"], attempts, "{view}");
    assert_confined(&stage);
}

/// Every run was in a jail, and its agent saw the one path that all see.
pub(crate) fn assert_confined(stage: &Stage) {
    let loops = std::fs::read_dir(stage.home().join("loops")).expect("loops");
    let mut n_specs = 0;
    for folder in loops.flatten() {
        for run in std::fs::read_dir(folder.path().join("runs"))
            .expect("runs")
            .flatten()
        {
            let spec = std::fs::read(run.path().join("spec.json")).expect("a spec");
            let spec: Value = serde_json::from_slice(&spec).expect("JSON");
            let is_check = spec["args"][0] == json!("measure");
            assert!(is_check || spec["cwd"] == json!("/workspace"), "{spec}");
            assert!(is_check || spec["jail"]["kind"] == json!("bwrap"), "{spec}");
            n_specs += 1;
        }
    }
    assert!(n_specs > 5, "{n_specs} runs");
}

#[test]
fn a_quartet_of_codex_claude_and_pi_in_jails() {
    quartet(("codex", "claude", "pi"), mind, 2);
}

/// These two take seconds of a processor for every start, so each has a role with one run; the soak
/// plays them in other roles with retries (`real_tls.rs`).
#[test]
fn a_quartet_of_gemini_and_opencode_in_jails() {
    let casts = [
        ("opencode", "codex", "gemini"),
        ("gemini", "codex", "opencode"),
    ];
    for cast in sample("gemini and opencode in jails", &casts) {
        quartet(cast, mind_at_once, 1);
    }
}

/// The key is in the person's shell. What runs in the jail has a placeholder, and the model gets the
/// key all the same: the keeper's proxy adds it.
#[test]
fn i09_a_key_stays_outside_of_the_jail() {
    const KEY: &str = "sk-ant-the-real-key-of-the-person";
    let stage = Stage::new();
    let server = ModelServer::answering(0, mind);
    let url = server.url();
    let agent = format!(
        "[agents.claude]\nkind = \"claude\"\nprogram = \"{}\"\nmodel = \"claude-sonnet-4-5\"\n",
        stage.program("claude")
    );
    stage.judged("claude", &agent);
    let arguments = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--sandbox",
        "bwrap",
    ];
    let mut command = stage.env.command(&arguments);
    command
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", &url);
    let started = stage.env.output(&mut command);
    assert!(started.status.success(), "{started:?}");
    let view = stage.wait_for("completed");
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
    let requests = server.requests();
    assert!(!requests.is_empty());
    for request in &requests {
        assert!(
            request.keys.iter().any(|key| key == KEY),
            "{:?}",
            request.keys
        );
    }
    let folder = stage.home().join("loops");
    let found = files_with(&folder, KEY);
    let outside: Vec<_> = found
        .iter()
        .filter(|path| !path.ends_with("keys.json"))
        .collect();
    assert!(outside.is_empty(), "the key lies in {outside:?}");
}

/// The proxy counts what the model's answers cost, and ends the access when nothing is left.
#[test]
fn i10_a_budget_ends_the_access_to_the_model() {
    let stage = Stage::new();
    let n_asked = std::sync::atomic::AtomicUsize::new(0);
    let server = ModelServer::answering(0, move |_| {
        let number = n_asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        testkit::Step::shell(format!("echo {number}"))
    });
    let agent = format!(
        "[agents.claude]\nkind = \"claude\"\nprogram = \"{}\"\nmodel = \"claude-sonnet-4-5\"\n[budget]\ntokens = 5000\n",
        stage.program("claude")
    );
    stage.judged("claude", &agent);
    let arguments = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--sandbox",
        "bwrap",
    ];
    let mut command = stage.env.command(&arguments);
    command
        .env("ANTHROPIC_API_KEY", "sk-ant-a-key-of-the-person")
        .env("ANTHROPIC_BASE_URL", server.url());
    let started = stage.env.output(&mut command);
    assert!(started.status.success(), "{started:?}");
    let view = stage.wait_until_status("failed");
    assert_eq!(view["reason"], "budget_exhausted", "{view}");
    let outcomes = stage.outcomes();
    let is_told = |outcome: &RunOutcome| matches!(outcome, RunOutcome::Failed { why } if why.contains("budget"));
    assert!(outcomes.iter().any(is_told), "{outcomes:?}");
    let n_requests = server.requests().len();
    assert!((2..12).contains(&n_requests), "{n_requests} requests");
    assert!(view["tokens"].as_u64() >= Some(5000), "{view}");
}

/// Files below a folder that hold a text.
pub(crate) fn files_with(folder: &std::path::Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let holds = bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes());
            found.extend(holds.then_some(path));
        }
    }
    found
}
