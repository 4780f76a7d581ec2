//! Whole loops with real agents that speak ACP, by way of our own client, against a scripted model:
//! two that speak it themselves, and two by the adapters that others have written for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kernel::RunOutcome;
use serde_json::json;
use testkit::{Fault, ModelServer, Request, Step};

use crate::real_agents::{Stage, mind, mind_at_once};
use crate::sample::{is_soak, sample, thrifty_sample};
use crate::scene::{processes_with, wait_until};

const AGENTS: [&str; 4] = ["gemini", "opencode", "claude", "codex"];

/// The entry of an agent as an operator writes it, in a config home of its own.
pub(crate) fn entry(stage: &Stage, name: &str, url: &str) -> String {
    let (program, args, env, files) = match name {
        "gemini" => {
            let settings = json!({"general": {"enableAutoUpdate": false}, "telemetry": {"enabled": false},
                "privacy": {"usageStatisticsEnabled": false}, "security": {"auth": {"selectedType": "gemini-api-key"}}});
            stage.env.write("gemini.json", settings.to_string());
            let env = format!(
                "GEMINI_CLI_HOME = \"{{config_home}}\", GEMINI_CLI_NO_RELAUNCH = \"true\", GEMINI_API_KEY = \"dummy\", \
                 GOOGLE_GEMINI_BASE_URL = \"{url}\""
            );
            let args = r#"["--acp", "--skip-trust", "--allowed-mcp-server-names=none", "-m", "gemini-2.5-pro"]"#;
            (
                stage.program("gemini"),
                args,
                env,
                Some((".gemini/settings.json", "gemini.json")),
            )
        }
        "opencode" => {
            // It makes the file that the test wants.
            let _ = stage.agent("opencode", url);
            let places = ["CONFIG", "DATA", "STATE", "CACHE"]
                .map(|place| {
                    format!(
                        "XDG_{place}_HOME = \"{{config_home}}/{}\"",
                        place.to_lowercase()
                    )
                })
                .join(", ");
            let env = format!(
                "{places}, OPENCODE_DISABLE_AUTOUPDATE = \"1\", OPENCODE_DISABLE_MODELS_FETCH = \"1\", \
                 OPENCODE_DISABLE_DEFAULT_PLUGINS = \"1\""
            );
            (
                stage.program("opencode"),
                r#"["acp"]"#,
                env,
                Some(("config/opencode/opencode.json", "opencode.json")),
            )
        }
        "claude" => {
            let env = format!(
                "CLAUDE_CONFIG_DIR = \"{{config_home}}\", IS_SANDBOX = \"1\", ANTHROPIC_BASE_URL = \"{url}\", \
                 ANTHROPIC_API_KEY = \"sk-ant-dummy\", ANTHROPIC_MODEL = \"claude-sonnet-4-5\", CLAUDE_CODE_MAX_RETRIES = \"1\", \
                 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\", DISABLE_AUTOUPDATER = \"1\", CLAUDE_CODE_EXECUTABLE = \"{}\"",
                stage.program("claude")
            );
            (stage.program("claude-agent-acp"), "[]", env, None)
        }
        _ => {
            let config = format!(
                "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n[analytics]\n\
                 enabled = false\n[features]\nplugins = false\n[model_providers.scripted]\nname = \"scripted\"\n\
                 base_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 0\n\
                 stream_max_retries = 0\n"
            );
            stage.env.write("codex.toml", config);
            let env = format!(
                "CODEX_HOME = \"{{config_home}}\", SCRIPTED_KEY = \"dummy\", CODEX_PATH = \"{}\"",
                stage.program("codex")
            );
            (
                stage.program("codex-acp"),
                "[]",
                env,
                Some(("config.toml", "codex.toml")),
            )
        }
    };
    let files = files.map(|(to, from)| {
        format!(
            "files = {{ \"{to}\" = \"{}\" }}\n",
            stage.env.path(from).display()
        )
    });
    let model = if name == "opencode" {
        "model = \"scripted/scripted-model\"\n"
    } else {
        ""
    };
    format!(
        "[agents.{name}]\nkind = \"acp\"\nprogram = \"{program}\"\nargs = {args}\n{model}env = {{ {env}, PATH = \"{}\" }}\n{}",
        stage.path_with_node(),
        files.unwrap_or_default()
    )
}

/// A loop with a different agent in each role. In the soak the judge rejects an attempt before one
/// lands.
#[expect(clippy::print_stdout, reason = "what each run took is worth a look")]
fn quartet(implementor: &str, reviewer: &str, judge: &str) {
    let stage = Stage::new();
    let is_rejected = is_soak();
    let mind = if is_rejected { mind } else { mind_at_once };
    let server = ModelServer::answering(0, mind);
    let agents = [implementor, reviewer, judge].map(|name| entry(&stage, name, &server.url()));
    stage.cast(implementor, reviewer, judge, &agents, "");
    let answer = stage.start(&["--foreground", "--json"]);
    let view = stage.view();
    let report = stage.env.run(&["story", &stage.loop_id(), "double"]).stdout;
    assert_eq!(
        view["status"],
        "completed",
        "{view}\n{report}\n{}",
        answer.whole()
    );
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1 + u32::from(is_rejected))),
        "{report}"
    );
    assert_eq!(
        report.contains(&format!("judge ({judge}): FAIL")),
        is_rejected,
        "{report}"
    );
    assert!(
        report.contains(&format!("judge ({judge}): PASS")),
        "{report}"
    );
    for run in stage.runs().iter().filter(|run| run["agent"] != "-") {
        let took_ms = run["durationMs"].as_i64().unwrap_or_default();
        println!(
            "{:9} {:12} {took_ms:6} ms {}",
            run["agent"].as_str().unwrap_or_default(),
            run["stage"].as_str().unwrap_or_default(),
            run["usage"]
        );
        assert!(
            run["usage"]["inputTokens"]
                .as_u64()
                .is_some_and(|tokens| tokens >= 1000),
            "{run}"
        );
        assert!(run["usage"]["sessionId"].is_string(), "{run}");
    }
    stage.assert_nothing_left();
}

/// Two that speak it themselves, and two by adapters, in different roles. Those that take seconds for
/// every start have the roles with the fewest runs.
#[test]
fn a_quartet_of_agents_that_speak_acp_completes() {
    let casts = [
        ("gemini", "codex", "opencode"),
        ("claude", "codex", "gemini"),
    ];
    for (implementor, reviewer, judge) in sample("quartets over ACP", &casts) {
        quartet(implementor, reviewer, judge);
    }
}

/// Plays a solo loop with a model that answers `trouble` until the first run has ended; gives that
/// end.
fn troubled(
    name: &str,
    more: &str,
    trouble: impl Fn(&Request) -> Step + Send + Sync + 'static,
) -> RunOutcome {
    let stage = Stage::new();
    let is_good = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_good);
    let server = ModelServer::answering(0, move |request| {
        if seen.load(Ordering::SeqCst) {
            mind(request)
        } else {
            trouble(request)
        }
    });
    stage.solo(&(entry(&stage, name, &server.url()) + more));
    assert_eq!(stage.start(&[]).exit, 0);
    let is_end = |outcome: &RunOutcome| !matches!(outcome, RunOutcome::Checked { .. });
    let first = wait_until("the first end", || {
        stage.outcomes().into_iter().find(is_end)
    });
    is_good.store(true, Ordering::SeqCst);
    if matches!(first, RunOutcome::NeedsHuman { .. }) {
        stage.wait_for("needs_human");
        assert_eq!(
            stage.env.run(&["answer", &stage.loop_id(), "retry"]).exit,
            0
        );
    }
    stage.wait_until_status("completed");
    let story = &stage.view()["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{name}: {story}"
    );
    wait_until("no process", || {
        processes_with(&stage.home().join("loops"))
            .is_empty()
            .then_some(())
    });
    first
}

fn assert_waited(name: &str, first: &RunOutcome, words: &str) {
    let is_right = matches!(first, RunOutcome::Infrastructure { why, .. } if why.contains(words));
    assert!(is_right, "{name}: {first:?}");
}

/// codex answers `end_turn` and says it in the chat; claude answers with an error that names its
/// kind.
#[test]
fn i05_a_limit_of_an_acp_agent_costs_no_attempt() {
    // At once, and after a tool was used, when half of the work is there.
    let cases = [("codex", 0), ("codex", 1), ("claude", 0), ("claude", 1)];
    let is_cheap = |case: &(&str, usize)| case.0 == "codex";
    for (name, n_good) in thrifty_sample("a limit of an ACP agent", &cases, is_cheap) {
        let n_requests = AtomicUsize::new(0);
        let first = troubled(name, "", move |request| {
            if n_requests.fetch_add(1, Ordering::SeqCst) < n_good {
                mind(request)
            } else {
                Step::fault(Fault::RateLimit)
            }
        });
        assert_waited(name, &first, "too many requests");
    }
}

/// These two try again for minutes, and say nothing meanwhile.
#[test]
fn i05_a_silent_acp_agent_is_ended_and_costs_no_attempt() {
    for name in sample("a silent ACP agent", &["gemini", "opencode"]) {
        let first = troubled(name, "idle = 9\n", |_| Step::fault(Fault::RateLimit));
        assert_waited(name, &first, "cannot be reached");
    }
}

/// codex never gives up by itself, and tells that it tries again: the watchdog ends it, and the
/// server is to blame.
#[test]
fn i05_an_acp_agent_that_cannot_reach_its_server_costs_no_attempt() {
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
    stage.solo(&(entry(&stage, "codex", &url) + "timeout = 8\n"));
    assert_eq!(stage.start(&[]).exit, 0);
    wait_until("a wait", || (stage.waits() > 0).then_some(()));
    let _server = ModelServer::answering(port, mind);
    stage.wait_until_status("completed");
    let story = &stage.view()["stories"][0];
    assert_eq!(
        (&story["status"], &story["attempts"]),
        (&json!("passed"), &json!(1)),
        "{story}"
    );
}

#[test]
fn an_acp_agent_without_a_login_asks_a_person() {
    for name in sample("an ACP agent without a login", &["codex", "claude"]) {
        let first = troubled(name, "", |_| Step::fault(Fault::Unauthorized));
        let is_right = matches!(&first, RunOutcome::NeedsHuman { question, .. } if question.contains("is not logged in"));
        assert!(is_right, "{name}: {first:?}");
    }
}

#[test]
fn i11_a_cancelled_acp_agent_leaves_nothing_of_its_tools() {
    let is_cheap = |name: &&str| ["claude", "codex"].contains(name);
    for name in thrifty_sample("a cancelled ACP agent", &AGENTS, is_cheap) {
        let stage = Stage::new();
        let tool = "python3 -c 'import time; open(\"sleeping\", \"w\"); time.sleep(250)'";
        let server = ModelServer::answering(0, move |_| Step::shell(tool));
        stage.solo(&entry(&stage, name, &server.url()));
        assert_eq!(stage.start(&[]).exit, 0);
        wait_until("the tool", || {
            let checkouts = stage
                .home()
                .join("loops")
                .join(stage.loop_id())
                .join("checkouts");
            let mut folders = std::fs::read_dir(checkouts).ok()?.flatten();
            folders
                .any(|folder| folder.path().join("sleeping").exists())
                .then_some(())
        });
        // The client, the agent, its shell, the tool.
        assert!(
            processes_with(&stage.home().join("loops")).len() >= 3,
            "{name}"
        );
        assert_eq!(stage.env.run(&["cancel", &stage.loop_id()]).exit, 0);
        stage.wait_for("cancelled");
        stage.assert_nothing_left();
    }
}
