//! pi: `pi -p --mode json`. It exits with code 0 even after a failed request. The model's last
//! message decides how the run ended, once `agent_settled` is seen.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::gateway::Gateway;
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::session::Session;
use crate::spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task, push_flag};
use crate::tools;
use crate::usage::{Tokens, micro_usd};
use crate::version::Version;

/// The variables that hold keys for the providers built into pi.
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

/// The providers whose keys stay outside of a jail, with the addresses that pi itself has for them.
const GATEWAYS: &[Gateway] = &[
    // Where both are there, pi uses this one.
    Gateway::pi(
        "anthropic",
        "ANTHROPIC_OAUTH_TOKEN",
        "https://api.anthropic.com",
    ),
    Gateway::pi(
        "anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
    )
    .in_header("x-api-key"),
    Gateway::pi("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    Gateway::pi(
        "google",
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta",
    )
    .in_header("x-goog-api-key"),
    Gateway::pi(
        "openrouter",
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
    ),
    Gateway::pi("xai", "XAI_API_KEY", "https://api.x.ai/v1"),
    Gateway::pi("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    Gateway::pi("cerebras", "CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
    Gateway::pi("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai"),
    Gateway::pi("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com"),
    Gateway::pi("zai", "ZAI_API_KEY", "https://api.z.ai/api/coding/paas/v4"),
];

pub(crate) fn facts() -> Facts {
    Facts {
        name: "pi",
        program: "pi",
        // SIGINT would leave its tools running.
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
        hosts: crate::facts::MODEL_HOSTS,
        gateways: GATEWAYS,
        install: "npm install -g @earendil-works/pi-coding-agent",
        log_in: "start pi and type /login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    // Extensions and settings of the repository must not run. The operator can pass `extra_args`.
    let mut args: Vec<String> = ["-p", "--mode", "json", "--no-approve", "--no-extensions"]
        .map(str::to_owned)
        .into();
    // A model is written `provider/model`; without a provider pi uses its default one.
    if let Some(model) = task.model.as_deref() {
        match model.split_once('/') {
            Some((provider, model)) => {
                push_flag(&mut args, "--provider", Some(provider));
                push_flag(&mut args, "--model", Some(model));
            }
            None => push_flag(&mut args, "--model", Some(model)),
        }
    }
    push_flag(&mut args, "--thinking", task.effort.as_deref());
    match &task.session {
        Session::Fresh => {}
        // One flag serves both: pi creates the session if it does not exist.
        Session::FreshAs(id) | Session::Resume(id) => {
            push_flag(&mut args, "--session-id", Some(id.as_str()));
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
            // Stops all traffic but the requests to the model.
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

/// What a pi stream has reported about its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Whether pi has nothing left to do. Its `agent_end` does not say so: a retry may follow.
    is_settled: bool,
    /// Why the model's last message stopped.
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
                let input = json::at(event, &["args"]).unwrap_or(&Value::Null);
                record.tool_started(Call {
                    id: json::text(event, &["toolCallId"]).unwrap_or_default(),
                    tool,
                    detail: detail.unwrap_or_default(),
                    input: Some(input),
                    edits: tools::edits(tool, input),
                });
                record.planned(tools::plan(tool, input));
            }
            "tool_execution_end" => {
                record.tool_ended(&CallEnd {
                    id: json::text(event, &["toolCallId"]).unwrap_or_default(),
                    failed: json::boolean(event, &["isError"]).unwrap_or(false),
                    result: json::at(event, &["result"]),
                });
            }
            "auto_retry_start" => {
                record.retrying(Evidence::of_text(
                    json::text(event, &["errorMessage"]).unwrap_or_default(),
                ));
            }
            // `finalError` is present only if the last retry failed too.
            "auto_retry_end" => {
                if let Some(error) = json::text(event, &["finalError"]) {
                    self.error = Some(Evidence::of_text(error));
                }
            }
            "agent_start" => self.is_settled = false,
            "agent_settled" => self.is_settled = true,
            // Deltas and repetitions of what `message_end` and the tool events say.
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
        let error = json::text(event, &["message", "errorMessage"]);
        record.gave_up(error.unwrap_or_default());
        self.error = error.map(Evidence::of_text);
        // A failed message may hold half an answer, and it is no sign of progress.
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

/// Adds up the tokens and costs of the model's messages. A cost of zero with tokens means that pi
/// has no price for the model.
fn usage(event: &Value, record: &mut Record) {
    let Some(reported) = json::at(event, &["message", "usage"]) else {
        return;
    };
    let count = |key| json::number(reported, &[key]).unwrap_or_default();
    let input = count("input").saturating_add(count("cacheWrite"));
    let tokens = Tokens {
        input,
        cached: count("cacheRead"),
        output: count("output"),
    };
    let cost = json::float(reported, &["cost", "total"]).and_then(micro_usd);
    record.add_usage(tokens, cost);
}
