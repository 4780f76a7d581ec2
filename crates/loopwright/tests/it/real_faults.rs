//! What happens to a loop when the servers, the login or the machine of a real agent CLI are in
//! trouble.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use kernel::{RunOutcome, Stage as Part};
use rustix::process::{Signal, kill_process};
use serde_json::json;
use testkit::{Fault, ModelServer, Step};

use crate::real_agents::{QUICK, SLOW, Stage, mind, n_ended};
use crate::sample::{is_soak, sample};
use crate::scene::{processes_with, wait_until};

pub(crate) fn now_secs() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs()
}

/// A CLI that is quick, or all of them in the soak.
fn some_kinds(class: &str) -> Vec<&'static str> {
    let slow = if is_soak() { &SLOW[..] } else { &[] };
    [&sample(class, &QUICK), slow].concat()
}

/// The loop's end: the story passed, and trouble that was not its fault cost no attempt.
fn assert_passed_at_once(stage: &Stage, what: &str) {
    let view = stage.wait_for("completed");
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{what}: {view}"
    );
    wait_until("no process", || {
        processes_with(&stage.home().join("loops"))
            .is_empty()
            .then_some(())
    });
}

#[test]
fn a_usage_limit_of_a_cli_is_waited_for_even_by_another_worker() {
    // Codex tells the minute alone, so the end of that minute would be waited for.
    let all = [
        ("claude", Then::WaitOut),
        ("pi", Then::WaitOut),
        ("codex", Then::CutShort),
    ];
    for (cli, then) in sample("usage limits", &all) {
        wait_for_usage_limit(cli, then);
    }
}

/// What is done once another worker waits.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// The wait ends by itself.
    WaitOut,
    /// A person ends the wait, which would take up to a minute.
    CutShort,
}

/// From the first request to the end of the limit: long enough for a busy machine to see the wait.
const LIMIT_SECS: u64 = 15;

fn wait_for_usage_limit(kind: &str, then: Then) {
    let stage = Stage::new();
    let resets_at = Arc::new(OnceLock::new());
    let (seen, home) = (Arc::clone(&resets_at), stage.home());
    let server = ModelServer::answering(0, move |request| {
        let resets_at_secs = *seen.get_or_init(|| now_secs() + LIMIT_SECS);
        // The limit is at the first run alone, however long that takes.
        if n_ended(&home, Part::Implement) > 0 {
            mind(request)
        } else {
            Step::fault(Fault::UsageLimit { resets_at_secs })
        }
    });
    stage.solo(&stage.agent(kind, &server.url()));
    assert_eq!(stage.start(&[]).exit, 0);
    let view = stage.wait_for("waiting");
    let resets_at_secs = *resets_at.get().expect("a first request");
    let late_secs_max = if then == Then::WaitOut { 5 } else { 61 };
    let until = view["waitingUntil"].as_str().expect("a time");
    let until_ms = u64::try_from(testkit::ms_of(until)).expect("after 1970");
    assert!(
        (resets_at_secs * 1000..(resets_at_secs + late_secs_max) * 1000).contains(&until_ms),
        "{view}"
    );
    assert!(
        view["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("allowance")),
        "{view}"
    );
    assert!(!stage.workers().is_empty(), "a worker waits");
    // The keeper of the run that ended started one too, which may not have seen yet that it is the
    // second.
    wait_until("no worker", || {
        let workers = stage.workers();
        for worker in &workers {
            let _ = kill_process(*worker, Signal::KILL);
        }
        workers.is_empty().then_some(())
    });
    // As a service manager would.
    let mut command = stage.env.command(&["serve", "--until-idle"]);
    let mut worker = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    match then {
        Then::CutShort => {
            assert_eq!(
                stage.wait_for("waiting")["waitingUntil"],
                until,
                "the wait is in the journal"
            );
            assert_eq!(stage.env.run(&["resume", &stage.loop_id()]).exit, 0);
            assert_passed_at_once(&stage, "usage limit");
        }
        Then::WaitOut => {
            assert_passed_at_once(&stage, "usage limit");
            assert!(now_secs() >= resets_at_secs, "it waited");
        }
    }
    worker.wait().expect("ended");
    assert_eq!(stage.waits(), 1, "one wait: {:?}", stage.outcomes());
}

#[test]
fn a_refused_login_asks_a_person_and_costs_no_attempt() {
    for kind in sample("a refused login", &QUICK) {
        let stage = Stage::new();
        let is_good = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_good);
        let server = ModelServer::answering(0, move |request| {
            if seen.load(Ordering::SeqCst) {
                mind(request)
            } else {
                Step::fault(Fault::Unauthorized)
            }
        });
        stage.solo(&stage.agent(kind, &server.url()));
        assert_eq!(stage.start(&[]).exit, 0);
        let view = stage.wait_for("needs_human");
        let log_in = agents::Kind::of_word(kind).expect("a kind").facts().log_in;
        assert!(
            view["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(log_in)),
            "{kind}: {view}"
        );
        is_good.store(true, Ordering::SeqCst);
        assert_eq!(
            stage.env.run(&["answer", &stage.loop_id(), "retry"]).exit,
            0
        );
        assert_passed_at_once(&stage, kind);
    }
}

#[test]
fn an_agent_without_credentials_asks_a_person() {
    for kind in some_kinds("no credentials") {
        let stage = Stage::new();
        let server = ModelServer::answering(0, mind);
        let agent = stage.agent(kind, &server.url());
        let agent = agent.replace("SCRIPTED_KEY = \"dummy\", ", "");
        let agent = agent.replace("CLAUDE_CODE_OAUTH_TOKEN = \"sk-ant-dummy\", ", "");
        let agent = agent.replace("GEMINI_API_KEY = \"dummy\", ", "");
        stage.solo(&agent.replace("scripted/scripted-model", "openai/gpt-5.5"));
        assert_eq!(stage.start(&[]).exit, 0);
        let view = stage.wait_for("needs_human");
        // opencode knows no models of a maker that it has no key for, and says no more than that.
        let log_in = agents::Kind::of_word(kind).expect("a kind").facts().log_in;
        let words = if kind == "opencode" {
            "Model not found"
        } else {
            log_in
        };
        assert!(
            view["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(words)),
            "{kind}: {view}"
        );
        assert_eq!(server.requests().len(), 0, "{kind}");
        assert_eq!(stage.env.run(&["cancel", &stage.loop_id()]).exit, 0);
    }
}

#[test]
fn a_missing_program_asks_a_person() {
    for kind in [&QUICK[..], &SLOW].concat() {
        let stage = Stage::new();
        stage.solo(&format!(
            "[agents.one]\nkind = \"{kind}\"\nprogram = \"/nowhere/{kind}\"\n"
        ));
        assert_eq!(stage.start(&["--no-preflight"]).exit, 0);
        let view = stage.wait_for("needs_human");
        let install = agents::Kind::of_word(kind).expect("a kind").facts().install;
        assert!(
            view["reason"]
                .as_str()
                .is_some_and(|reason| reason.contains(install)),
            "{kind}: {view}"
        );
        assert_eq!(stage.env.run(&["cancel", &stage.loop_id()]).exit, 0);
    }
}

#[test]
fn an_unreachable_server_is_waited_for() {
    for kind in some_kinds("an unreachable server") {
        let stage = Stage::new();
        // A port that was free a moment ago: nobody listens there until the server comes back.
        let gone = ModelServer::start(Vec::new());
        let url = gone.url();
        drop(gone);
        let port: u16 = url
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .expect("a port");
        // codex never gives up by itself: the watchdog ends it. A soak keeps the machine busy, and the
        // run that finds its server must end in time too.
        let limit = match (SLOW.contains(&kind), is_soak()) {
            (true, _) => "idle = 90\n",
            (false, true) => "timeout = 40\n",
            (false, false) => "timeout = 8\n",
        };
        stage.solo(&(stage.agent(kind, &url) + limit));
        assert_eq!(stage.start(&[]).exit, 0);
        wait_until("a wait", || (stage.waits() > 0).then_some(()));
        let _server = ModelServer::answering(port, mind);
        assert_passed_at_once(&stage, kind);
    }
}

/// Says whether any process at all has these words in its command line, whatever became of its
/// environment.
fn is_running(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("a proc folder").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .into_iter()
        .any(|line| String::from_utf8_lossy(&line).contains(words))
}

#[test]
fn i11_a_cancelled_agent_leaves_nothing_of_its_tools() {
    let slow = sample("a slow agent that is cancelled", &SLOW);
    for kind in [sample("a cancelled agent", &QUICK), slow].concat() {
        let stage = Stage::new();
        // Claude refuses a bare `sleep`. The folder of this test marks the tool.
        let mark = stage.env.path("mark").display().to_string();
        let tool =
            format!("python3 -c 'import time; open(\"sleeping\", \"w\"); time.sleep(250)' {mark}");
        let server = ModelServer::answering(0, move |_| Step::shell(&tool));
        stage.solo(&stage.agent(kind, &server.url()));
        assert_eq!(stage.start(&[]).exit, 0);
        stage.wait_for_file("sleeping");
        // It is one of several: the CLI, its shell, the tool.
        let known = processes_with(&stage.home().join("loops"));
        assert!(known.len() >= 2 && is_running(&mark), "{kind}: {known:?}");
        assert_eq!(stage.env.run(&["cancel", &stage.loop_id()]).exit, 0);
        stage.wait_for("cancelled");
        stage.assert_nothing_left();
        assert!(!is_running(&mark), "{kind}: i11: the tool is left");
        assert!(
            matches!(stage.outcomes()[..], [.., RunOutcome::Stopped]),
            "{kind}: {:?}",
            stage.outcomes()
        );
        std::thread::sleep(Duration::from_millis(200));
        stage.assert_nothing_left();
    }
}
