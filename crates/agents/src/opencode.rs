//! opencode: `opencode run --format json`. The finish reason of the last step decides how the run
//! ended, unless an `error` event comes after it.

mod log;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::gateway::Gateway;
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::session::Session;
use crate::spec::{CommandSpec, HomeLink, StopSignal, Task, push_flag};
use crate::tools;
use crate::usage::{Tokens, micro_usd};
use crate::version::Version;

/// The providers whose keys stay outside of a jail, with the addresses that opencode itself has for
/// them. Its own service is not among them: which header has the key depends on the model there.
const GATEWAYS: &[Gateway] = &[
    Gateway::opencode(
        "anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com/v1",
    )
    .in_header("x-api-key"),
    Gateway::opencode("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    Gateway::opencode(
        "google",
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta",
    )
    .in_header("x-goog-api-key"),
    Gateway::opencode(
        "openrouter",
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
    ),
];

pub(crate) fn facts() -> Facts {
    Facts {
        name: "opencode",
        program: "opencode",
        stop_signal: StopSignal::Term,
        // A wall limit is vital here: opencode loops forever if a request stays too long for its
        // model even after compaction.
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: None,
        sessions: Sessions::Resumed,
        takes_schema: false,
        tells_cost: true,
        // No variable and no flag stops it from loading these.
        executes: &[".opencode/plugin", ".opencode/plugins"],
        tried: Some((Version::new(1, 18, 33), Version::new(1, 18, 33))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Credentials,
        hosts: crate::facts::MODEL_HOSTS,
        gateways: GATEWAYS,
        install: "npm install -g opencode-ai",
        log_in: "opencode auth login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    // Its stream shows neither why its own server failed nor that a request is being retried. Its
    // log on standard error shows both.
    let mut args: Vec<String> = [
        "run",
        "--format",
        "json",
        "--print-logs",
        "--log-level",
        "ERROR",
    ]
    .map(str::to_owned)
    .into();
    push_flag(&mut args, "--model", task.model.as_deref());
    push_flag(&mut args, "--variant", task.effort.as_deref());
    if let Session::Resume(id) = &task.session {
        push_flag(&mut args, "--session", Some(id.as_str()));
    }
    args.extend(task.extra_args.iter().cloned());
    CommandSpec {
        program: task
            .program
            .clone()
            .unwrap_or_else(|| facts.program.to_owned()),
        args,
        env: environment(task),
        removed_env: [
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_PERMISSION",
        ]
        .map(str::to_owned)
        .into(),
        pass_env: [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "OPENCODE_API_KEY",
        ]
        .map(str::to_owned)
        .into(),
        stdin: task.prompt.clone(),
        files: Vec::new(),
        links: vec![HomeLink {
            at: "data/opencode/auth.json".to_owned(),
            folder_variable: None,
            folder: ".local/share/opencode",
            file: "auth.json",
        }],
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

/// Points its folders at the config home through the XDG variables. Our settings go into a
/// variable, which opencode lays over its files, so an operator's file in the config home still
/// counts.
fn environment(task: &Task) -> BTreeMap<String, String> {
    let config = json!({
        "autoupdate": false,
        "share": "disabled",
        "permission": { "*": "allow" },
    });
    let folder = |name: &str| task.config_home.join(name).display().to_string();
    let one = || "1".to_owned();
    [
        ("XDG_CONFIG_HOME", folder("config")),
        ("XDG_DATA_HOME", folder("data")),
        ("XDG_STATE_HOME", folder("state")),
        ("XDG_CACHE_HOME", folder("cache")),
        ("OPENCODE_CONFIG_CONTENT", config.to_string()),
        ("OPENCODE_DISABLE_AUTOUPDATE", one()),
        ("OPENCODE_DISABLE_MODELS_FETCH", one()),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", one()),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", one()),
        // Ignores the repository's settings. Its AGENTS.md is ignored with them.
        ("OPENCODE_DISABLE_PROJECT_CONFIG", one()),
        ("OPENCODE_PURE", one()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// What an opencode stream has reported about its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    finish_reason: Option<String>,
    error: Option<Evidence>,
    /// Whether it is compacting its session because a request was too long. That step finishes like
    /// a turn but does not end the run.
    is_compacting: bool,
    /// Whether it carried on after a failed request. Its exit code of 1 then only reflects that
    /// request.
    has_recovered: bool,
    /// The reference under which its log names an error of its own server.
    reference: Option<String>,
    /// When the model last did anything. A step's start does not count, because it is reported even
    /// if the step's request fails at once.
    progress_ms: u64,
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        record.name_session(json::text(event, &["sessionID"]));
        let kind = json::text(event, &["type"]).unwrap_or_default();
        if ["text", "tool_use", "step_finish"].contains(&kind) {
            self.progress_ms = json::number(event, &["timestamp"]).unwrap_or(self.progress_ms);
        }
        match kind {
            "step_start" if self.is_compacting => {}
            "step_start" => {
                // The answer is the text of the last step.
                record.forget_answer();
                self.finish_reason = None;
                self.has_recovered |= self.error.take().is_some();
            }
            // After compaction opencode continues the session with a prompt of its own.
            "text" if json::boolean(event, &["part", "synthetic"]) == Some(true) => {
                self.is_compacting = false;
            }
            "text" if self.is_compacting => {}
            "text" => record.said_more(json::text(event, &["part", "text"]).unwrap_or_default()),
            "tool_use" => tool(event, record),
            "step_finish" => {
                if !self.is_compacting {
                    self.finish(json::text(event, &["part", "reason"]), record);
                }
                usage(event, record);
            }
            "error" => {
                self.is_compacting =
                    json::text(event, &["error", "name"]) == Some("ContextOverflowError");
                self.reference = json::text(event, &["error", "data", "ref"]).map(str::to_owned);
                let evidence = evidence(event);
                record.gave_up(evidence.text());
                self.error = Some(evidence);
            }
            "reasoning" => {}
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, record: &Record, exit: &Exit) -> Claim {
        match (&self.error, &self.reference) {
            // The message `Unexpected server error` is about opencode's own server, not the
            // model's. Classifying it by its wording would be wrong, so look it up in the log.
            (Some(_), Some(reference)) => {
                let why = log::error_of(&exit.stderr_tail, reference);
                return Claim::Broken(
                    why.unwrap_or_else(|| "its own server failed; see its log".to_owned()),
                );
            }
            (Some(evidence), None) => return Claim::Broke(evidence.clone()),
            (None, _) => {}
        }
        // It retries silently, so if a watchdog ended it, only the log shows what it waited for.
        if exit.is_timeout()
            && record.trouble.is_none()
            && let Some(evidence) = log::last_failed_request(&exit.stderr_tail, self.progress_ms)
        {
            return Claim::Broke(evidence);
        }
        match self.finish_reason.as_deref() {
            Some("stop") if self.has_recovered && exit.code == Some(1) => Claim::Recovered,
            Some("stop") => Claim::Done,
            Some("tool-calls") | None => Claim::Unfinished,
            Some(reason) => Claim::GaveUp(format!("it stopped for the reason `{reason}`")),
        }
    }
}

impl Stream {
    /// Ends a step. If the model's stream broke off, the reason is `unknown`; opencode then retries
    /// without end.
    fn finish(&mut self, reason: Option<&str>, record: &mut Record) {
        if reason == Some("unknown") {
            self.finish_reason = None;
            record.retrying(Evidence::of_text("the stream ended without a reason"));
        } else {
            self.finish_reason = reason.map(str::to_owned);
        }
    }
}

/// Reads a tool call. opencode reports a tool only once it has ended.
fn tool(event: &Value, record: &mut Record) {
    let keys = ["command", "filePath", "path", "pattern", "description"];
    let detail = keys
        .iter()
        .find_map(|key| json::text(event, &["part", "state", "input", key]));
    let tool = json::text(event, &["part", "tool"]).unwrap_or_default();
    let input = json::at(event, &["part", "state", "input"]).unwrap_or(&Value::Null);
    record.tool_started(Call {
        id: "",
        tool,
        detail: detail.unwrap_or_default(),
        input: Some(input),
        edits: tools::edits(tool, input),
    });
    record.planned(tools::plan(tool, input));
    let is_error = json::text(event, &["part", "state", "status"]) == Some("error");
    let code = json::number(event, &["part", "state", "metadata", "exit"]);
    record.tool_ended(&CallEnd {
        id: "",
        failed: is_error || code.is_some_and(|code| code != 0),
        result: json::at(event, &["part", "state", "output"])
            .or_else(|| json::at(event, &["part", "state", "error"])),
    });
}

/// Reads an `error` event. For a failed request it holds the status, the body and the headers.
fn evidence(event: &Value) -> Evidence {
    let data = |key| json::at(event, &["error", "data", key]);
    let message = data("message").and_then(Value::as_str);
    let message = message
        .or_else(|| json::text(event, &["error", "message"]))
        .unwrap_or_default();
    let status = data("statusCode")
        .and_then(Value::as_u64)
        .and_then(|status| u16::try_from(status).ok());
    let mut evidence = Evidence::of_status(status, message);
    evidence.add_code(json::text(event, &["error", "name"]));
    if let Some(body) = data("responseBody").and_then(Value::as_str) {
        evidence.add_body(body);
    }
    for (name, value) in data("responseHeaders")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        evidence.add_header(name, value.as_str().unwrap_or_default());
    }
    evidence
}

/// Adds up the tokens and costs of the steps. A cost of zero with tokens means that opencode has no
/// price for the model.
fn usage(event: &Value, record: &mut Record) {
    let Some(reported) = json::at(event, &["part", "tokens"]) else {
        return;
    };
    let count = |path: &[&str]| json::number(reported, path).unwrap_or_default();
    let tokens = Tokens {
        input: count(&["input"]).saturating_add(count(&["cache", "write"])),
        cached: count(&["cache", "read"]),
        output: count(&["output"]).saturating_add(count(&["reasoning"])),
    };
    record.add_usage(
        tokens,
        json::float(event, &["part", "cost"]).and_then(micro_usd),
    );
}
