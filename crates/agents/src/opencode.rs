//! opencode: `opencode run --format json`. The reason of the last step decides, and an `error`
//! after it.

mod log;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::Record;
use crate::session::Session;
use crate::spec::{CommandSpec, HomeLink, StopSignal, Task};
use crate::usage::{Tokens, micro_usd};
use crate::version::Version;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "opencode",
        program: "opencode",
        stop_signal: StopSignal::Term,
        // It goes round for ever when a request stays too long for its model.
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: None,
        sessions: Sessions::Resumed,
        takes_schema: false,
        tells_cost: true,
        // No variable and no flag keeps it from loading these.
        executes: &[".opencode/plugin", ".opencode/plugins"],
        tried: Some((Version::new(1, 18, 33), Version::new(1, 18, 33))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Credentials,
        install: "npm install -g opencode-ai",
        log_in: "opencode auth login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    // Its stream tells neither why its own server failed nor that a request is asked again; its log
    // does.
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
    let pair = |flag: &str, value: &str| [flag.to_owned(), value.to_owned()];
    args.extend(task.model.iter().flat_map(|model| pair("--model", model)));
    args.extend(
        task.effort
            .iter()
            .flat_map(|effort| pair("--variant", effort)),
    );
    if let Session::Resume(id) = &task.session {
        args.extend(pair("--session", id.as_str()));
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

/// Its folders follow the XDG variables. Configuration by a variable is laid over the files, so
/// that an operator's file in the config home still counts.
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
        // The settings of the repository do not count; with them goes its AGENTS.md.
        ("OPENCODE_DISABLE_PROJECT_CONFIG", one()),
        ("OPENCODE_PURE", one()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// What a stream of opencode has said of its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    finish_reason: Option<String>,
    error: Option<Evidence>,
    /// Whether it sums its session up because a request was too long. That step ends like a turn,
    /// but ends nothing.
    is_compacting: bool,
    /// Whether it went on after a request that was too long; then its exit code tells of that
    /// alone.
    has_recovered: bool,
    /// What its log calls the error of its own server.
    reference: Option<String>,
    /// When the model last did anything; a step begins also where its request fails at once.
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
                record.forget_answer();
                self.finish_reason = None;
                self.has_recovered |= self.error.take().is_some();
            }
            // Words of its own, by which it goes on after it has summed up.
            "text" if json::truth(event, &["part", "synthetic"]) == Some(true) => {
                self.is_compacting = false
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
                self.error = Some(evidence(event));
            }
            "reasoning" => {}
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, record: &Record, exit: &Exit) -> Claim {
        match (&self.error, &self.reference) {
            // `Unexpected server error` is said of its own server, not of the model's: the words
            // would mislead.
            (Some(_), Some(reference)) => {
                let why = log::error_of(&exit.stderr_tail, reference);
                return Claim::Broken(
                    why.unwrap_or_else(|| "its own server failed; see its log".to_owned()),
                );
            }
            (Some(evidence), None) => return Claim::Broke(evidence.clone()),
            (None, _) => {}
        }
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
    /// Ends a step. Where a stream broke off it knows no reason, and asks again, for ever.
    fn finish(&mut self, reason: Option<&str>, record: &mut Record) {
        if reason == Some("unknown") {
            self.finish_reason = None;
            record.retrying(Evidence::of_text("the stream ended without a reason"));
        } else {
            self.finish_reason = reason.map(str::to_owned);
        }
    }
}

/// A tool is told of when it has ended.
fn tool(event: &Value, record: &mut Record) {
    let keys = ["command", "filePath", "path", "pattern", "description"];
    let detail = keys
        .iter()
        .find_map(|key| json::text(event, &["part", "state", "input", key]));
    record.tool_started(
        json::text(event, &["part", "tool"]).unwrap_or_default(),
        detail.unwrap_or_default(),
    );
    let is_error = json::text(event, &["part", "state", "status"]) == Some("error");
    let code = json::number(event, &["part", "state", "metadata", "exit"]);
    record.tool_ended(is_error || code.is_some_and(|code| code != 0));
}

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

/// Every step has its own count. A cost of nothing for some tokens means that it has no price for
/// them.
fn usage(event: &Value, record: &mut Record) {
    let Some(told) = json::at(event, &["part", "tokens"]) else {
        return;
    };
    let count = |path: &[&str]| json::number(told, path).unwrap_or_default();
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
