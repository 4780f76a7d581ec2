//! pi: `pi -p --mode json`. Its exit code says nothing; the last message of the model does, once
//! `agent_settled` is seen.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::Record;
use crate::session::Session;
use crate::spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task};
use crate::usage::{Tokens, micro_usd};
use crate::version::Version;

/// Keys of the providers that it knows by itself.
const KEY_VARIABLES: [&str; 12] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "CEREBRAS_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "ZAI_API_KEY",
    "AI_GATEWAY_API_KEY",
];

pub(crate) fn facts() -> Facts {
    Facts {
        name: "pi",
        program: "pi",
        // On SIGINT its tools survive.
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: None,
        sessions: Sessions::NamedAndResumed,
        takes_schema: false,
        tells_cost: true,
        executes: &[],
        tried: Some((Version::new(0, 87, 1), Version::new(0, 87, 1))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Credentials,
        install: "npm install -g @earendil-works/pi-coding-agent",
        log_in: "start pi and type /login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    // Neither extensions nor settings of the repository run; what the operator wants is given by
    // arguments.
    let mut args: Vec<String> = ["-p", "--mode", "json", "--no-approve", "--no-extensions"]
        .map(str::to_owned)
        .into();
    let pair = |flag: &str, value: &str| [flag.to_owned(), value.to_owned()];
    match task
        .model
        .as_deref()
        .map(|model| model.split_once('/').ok_or(model))
    {
        Some(Ok((provider, model))) => {
            args.extend(pair("--provider", provider));
            args.extend(pair("--model", model));
        }
        Some(Err(model)) => args.extend(pair("--model", model)),
        None => {}
    }
    args.extend(
        task.effort
            .iter()
            .flat_map(|effort| pair("--thinking", effort)),
    );
    match &task.session {
        Session::Fresh => {}
        // One flag for both: it makes the session where there is none.
        Session::FreshAs(id) | Session::Resume(id) => {
            args.extend(pair("--session-id", id.as_str()))
        }
    }
    args.extend(task.extra_args.iter().cloned());
    let home = task.config_home.display().to_string();
    CommandSpec {
        program: task
            .program
            .clone()
            .unwrap_or_else(|| facts.program.to_owned()),
        args,
        env: [
            ("PI_CODING_AGENT_DIR", home.as_str()),
            ("PI_OFFLINE", "1"),
            ("PI_TELEMETRY", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect::<BTreeMap<_, _>>(),
        removed_env: vec!["PI_CODING_AGENT_SESSION_DIR".to_owned()],
        pass_env: KEY_VARIABLES.map(str::to_owned).into(),
        stdin: task.prompt.clone(),
        files: vec![HomeFile {
            path: "settings.json".to_owned(),
            content: "{}\n".to_owned(),
            keep: Keep::Theirs,
        }],
        links: vec![HomeLink {
            at: "auth.json".to_owned(),
            folder_variable: Some("PI_CODING_AGENT_DIR"),
            folder: ".pi/agent",
            file: "auth.json",
        }],
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

/// What a stream of pi has said of its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    is_settled: bool,
    stop_reason: String,
    error: Option<Evidence>,
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        match json::text(event, &["type"]).unwrap_or_default() {
            "session" => record.name_session(json::text(event, &["id"])),
            "message_end" => self.message(event, record),
            "tool_execution_start" => {
                let tool = json::text(event, &["toolName"]).unwrap_or_default();
                let keys = ["command", "path", "pattern", "query"];
                let detail = keys
                    .iter()
                    .find_map(|key| json::text(event, &["args", key]));
                record.tool_started(tool, detail.unwrap_or_default());
            }
            "tool_execution_end" => {
                record.tool_ended(json::truth(event, &["isError"]).unwrap_or(false))
            }
            "auto_retry_start" => {
                record.retrying(Evidence::of_text(
                    json::text(event, &["errorMessage"]).unwrap_or_default(),
                ));
            }
            "auto_retry_end" => {
                if let Some(error) = json::text(event, &["finalError"]) {
                    self.error = Some(Evidence::of_text(error));
                }
            }
            "agent_start" => self.is_settled = false,
            "agent_settled" => self.is_settled = true,
            "turn_start"
            | "turn_end"
            | "message_start"
            | "message_update"
            | "agent_end"
            | "tool_execution_update"
            | "entry_appended"
            | "compaction_start"
            | "compaction_end"
            | "queue_update" => {}
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, _: &Record, _: &Exit) -> Claim {
        if !self.is_settled {
            return Claim::Unfinished;
        }
        match (self.stop_reason.as_str(), &self.error) {
            ("stop", _) => Claim::Done,
            ("aborted", _) => Claim::Interrupted,
            ("error", Some(evidence)) => Claim::Broke(evidence.clone()),
            ("length", _) => {
                Claim::GaveUp("its answer was cut: it may not be that long".to_owned())
            }
            (reason, _) => Claim::Broke(Evidence::of_text(&format!(
                "it stopped for the reason `{reason}`"
            ))),
        }
    }
}

impl Stream {
    fn message(&mut self, event: &Value, record: &mut Record) {
        if json::text(event, &["message", "role"]) != Some("assistant") {
            return;
        }
        record.name_model(json::text(event, &["message", "model"]));
        usage(event, record);
        json::text(event, &["message", "stopReason"])
            .unwrap_or_default()
            .clone_into(&mut self.stop_reason);
        self.error = json::text(event, &["message", "errorMessage"]).map(Evidence::of_text);
        if self.error.is_some() || self.stop_reason == "error" {
            return;
        }
        let content = json::list(event, &["message", "content"]);
        let texts: Vec<&str> = content
            .iter()
            .filter_map(|part| json::text(part, &["text"]))
            .collect();
        record.said(&texts.join("\n"));
    }
}

/// Every message of the model has its own count. A cost of nothing for some tokens means that pi
/// has no price for them.
fn usage(event: &Value, record: &mut Record) {
    let Some(told) = json::at(event, &["message", "usage"]) else {
        return;
    };
    let count = |key| json::number(told, &[key]).unwrap_or_default();
    let input = count("input").saturating_add(count("cacheWrite"));
    let tokens = Tokens {
        input,
        cached: count("cacheRead"),
        output: count("output"),
    };
    let cost = json::float(told, &["cost", "total"]).and_then(micro_usd);
    record.add_usage(tokens, cost);
}
