//! Sessions of the real agent CLIs: one that is cut off is gone on with, with the files as they
//! were left, and what it used is counted once.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kernel::RunOutcome;
use rustix::process::{Signal, kill_process};
use serde_json::json;
use testkit::{Fault, ModelServer, Request, Step};

use crate::real_agents::{QUICK, SLOW, Stage, mind};
use crate::real_faults::now_secs;
use crate::sample::{is_soak, sample, sample_of};
use crate::scene::{processes_with, wait_until};

/// What the prompt of a try says that goes on with an earlier one's work.
const CUT_OFF: &str = "You were cut off";

/// The first thing that an implementor does; only the first try does it.
const FIRST_STEP: &str = "echo begun > begun.txt";

/// An implementor that has begun, and then does what it is told by the test until it is asked to go
/// on.
fn begun(request: &Request, then: &Step) -> Step {
    let text = request.text();
    match (
        text.contains("You are the implementor."),
        request.n_tool_results(),
    ) {
        (true, 0) => Step::shell(FIRST_STEP),
        (true, _) if !text.contains(CUT_OFF) => then.clone(),
        // Whatever became of the tool that was cut off, one more comes after this prompt.
        (true, _) if !text.contains("double) echo") => {
            Step::shell("sed -i 's/^  \\*) exit 2 ;;/  double) echo $(($2 * 2)) ;;\\n&/' calc.sh")
        }
        _ => mind(request),
    }
}

/// The story passed at its first attempt, and what the first try had made is in it.
fn assert_gone_on_with(stage: &Stage, kind: &str) {
    let view = stage.wait_for("completed");
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{kind}: {view}"
    );
    let branch = view["branch"].as_str().expect("a branch");
    let landed = testkit::git(
        &stage.env.path("project"),
        &["show", &format!("{branch}:begun.txt")],
    );
    assert_eq!(landed, "begun", "{kind}: the first try's files are used");
    let runs = stage.runs();
    let implementing: Vec<_> = runs
        .iter()
        .filter(|run| run["stage"] == "implement")
        .collect();
    assert_eq!(implementing.len(), 2, "{kind}: {runs:?}");
    assert!(
        implementing[0]["usage"]["sessionId"].is_string(),
        "{kind}: {runs:?}"
    );
    assert_eq!(
        implementing[0]["usage"]["sessionId"], implementing[1]["usage"]["sessionId"],
        "{kind}: it is the same session"
    );
    stage.assert_nothing_left();
}

fn went_on_after_kill(kind: &str) {
    went_on(kind, Stage::agent);
}

/// Kills everything in the middle of a tool; `entry` gives the agent's part of the configuration.
fn went_on(kind: &str, entry: impl Fn(&Stage, &str, &str) -> String) {
    let stage = Stage::new();
    let mark = stage.env.path("mark").display().to_string();
    let sleep = Step::shell(format!(
        "python3 -c 'import time; open(\"sleeping\", \"w\"); time.sleep(250)' {mark}"
    ));
    let server = ModelServer::answering(0, move |request| begun(request, &sleep));
    stage.solo(&entry(&stage, kind, &server.url()));
    assert_eq!(stage.start(&[]).exit, 0);
    stage.wait_for_file("sleeping");
    // Everything dies at once: worker, keeper, CLI, tool. Only what is on the disk is left.
    wait_until("no process", || {
        let all = processes_with(&stage.env.path(""));
        for process in &all {
            let _ = kill_process(*process, Signal::KILL);
        }
        all.is_empty().then_some(())
    });
    let mut command = stage.env.command(&["serve", "--until-idle"]);
    let mut worker = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    assert_gone_on_with(&stage, kind);
    worker.wait().expect("ended");
    assert!(
        stage
            .outcomes()
            .iter()
            .any(|outcome| matches!(outcome, RunOutcome::Interrupted { .. })),
        "{kind}: {:?}",
        stage.outcomes()
    );
    let asked = server.requests();
    let both = asked
        .iter()
        .find(|request| request.text().contains(CUT_OFF))
        .expect("asked to go on");
    assert!(
        both.text().contains(FIRST_STEP),
        "{kind}: the model is told what it had done"
    );
}

#[test]
fn i04_a_session_of_a_cli_outlives_the_death_of_everything() {
    const CLIS_AT_ONCE: usize = 2;
    let all = ["codex", "claude", "pi", "opencode", "gemini"];
    for cli in sample_of("sessions of a CLI", CLIS_AT_ONCE, &all) {
        went_on_after_kill(cli);
    }
}

#[test]
fn i04_sessions_over_acp_outlive_the_death_of_everything() {
    for kind in sample("sessions over ACP", &["codex", "claude", "opencode"]) {
        went_on(kind, crate::real_acp::entry);
    }
}

#[test]
fn a_session_that_a_real_agent_has_lost_is_begun_anew() {
    let slow = if is_soak() { &SLOW[..] } else { &[] };
    for kind in [&sample("a lost session", &QUICK), slow].concat() {
        let stage = Stage::new();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let server = ModelServer::answering(0, move |request| {
            if request.n_tool_results() > 0 && !seen.load(Ordering::SeqCst) {
                return Step::fault(Fault::Unauthorized);
            }
            mind(request)
        });
        stage.solo(&stage.agent(kind, &server.url()));
        assert_eq!(stage.start(&[]).exit, 0);
        stage.wait_for("needs_human");
        // Everything that the CLI kept of its sessions is gone.
        let folder = stage
            .home()
            .join("loops")
            .join(stage.loop_id())
            .join("agents");
        std::fs::remove_dir_all(folder).expect("removed");
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(
            stage.env.run(&["answer", &stage.loop_id(), "retry"]).exit,
            0
        );
        let view = stage.wait_for("completed");
        let story = &view["stories"][0];
        assert_eq!(
            (&story["status"], &story["attempts"]),
            (&json!("passed"), &json!(1)),
            "{kind}: {view}"
        );
    }
}

#[test]
fn a_limit_in_the_middle_of_the_work_loses_nothing_of_it() {
    for kind in sample("a limit in the middle", &QUICK) {
        let stage = Stage::new();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let resets_at_secs = now_secs() + 3600;
        let server = ModelServer::answering(0, move |request| {
            let has_begun = request.n_tool_results() > 0;
            if has_begun && !seen.load(Ordering::SeqCst) {
                return Step::fault(Fault::UsageLimit { resets_at_secs });
            }
            begun(request, &Step::text("never said"))
        });
        stage.solo(&stage.agent(kind, &server.url()));
        assert_eq!(stage.start(&[]).exit, 0);
        stage.wait_for("waiting");
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(stage.env.run(&["resume", &stage.loop_id()]).exit, 0);
        assert_gone_on_with(&stage, kind);
        // Three answers of 1230 tokens each; a session's running total would count the first one
        // twice.
        let view = stage.view();
        assert_eq!(
            (server.requests().len(), &view["tokens"]),
            (4, &json!(3690)),
            "{kind}"
        );
        let used = &view["usedBy"][0];
        assert_eq!(
            (
                &used["role"],
                &used["agent"],
                &used["runs"],
                &used["tokens"]
            ),
            (&json!("implementor"), &json!(kind), &json!(2), &json!(3690)),
            "{view}"
        );
    }
}

const TWO_STORIES: &str = r#"{ "stories": [
  { "id": "one", "title": "Note one", "acceptance_criteria": ["it is noted"], "passes": false },
  { "id": "two", "title": "Note two", "acceptance_criteria": ["it is noted"], "passes": false } ] }
"#;

#[test]
fn a_real_agent_stands_in_until_the_limit_of_another_is_over() {
    let stage = Stage::new();
    // The limit begins when it is met: on a busy machine the CLI is a long time starting.
    let met = OnceLock::new();
    let server = ModelServer::answering(0, move |request| {
        let is_claude = request.path.contains("/messages");
        let resets_at_secs = *met.get_or_init(|| now_secs() + 10);
        if is_claude && now_secs() < resets_at_secs {
            return Step::fault(Fault::UsageLimit { resets_at_secs });
        }
        if request.n_tool_results() == 0 {
            return Step::shell("echo \"noted by a run in $PWD\" >> notes.txt");
        }
        // The stand-in is done when the limit is over, so that the next story finds its own agent
        // free.
        while now_secs() <= resets_at_secs {
            std::thread::sleep(Duration::from_millis(50));
        }
        Step::text("Noted.")
    });
    let agents = stage.agent("claude", &server.url()) + &stage.agent("pi", &server.url());
    stage.solo(&agents);
    let config = stage.env.read("project/loopwright.toml");
    let config = config.replace("[retry]\n", "[retry]\nladder = [\"claude\", \"pi\"]\n");
    let more = "[roles.implementor]\nagent = \"claude\"\n[policy]\non_limit = \"failover\"\n";
    stage.env.write("project/loopwright.toml", config + more);
    stage.env.write("project/prd.json", TWO_STORIES);
    assert_eq!(stage.start(&[]).exit, 0);
    let view = stage.wait_for("completed");
    for story in view["stories"].as_array().expect("stories") {
        assert_eq!(
            (&story["status"], &story["attempts"]),
            (&json!("passed"), &json!(1)),
            "{view}"
        );
    }
    let runs = stage.runs();
    let who: Vec<_> = runs
        .iter()
        .filter(|run| run["stage"] == "implement")
        .map(|run| (&run["storyId"], &run["agent"]))
        .collect();
    let words = [json!("one"), json!("two"), json!("claude"), json!("pi")];
    let expected: Vec<_> = [(0, 2), (0, 3), (1, 2)]
        .map(|(story, agent)| (&words[story], &words[agent]))
        .to_vec();
    assert_eq!(who, expected);
    stage.assert_nothing_left();
}
