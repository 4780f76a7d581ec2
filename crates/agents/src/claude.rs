//! claude: `claude -p --output-format stream-json`. The result of a failed request says
//! `"subtype":"success"`, so `is_error` decides.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, Family, LoginCheck, Sessions};
use crate::gateway::{Gateway, ToldBy};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::session::Session;
use crate::spec::{CommandSpec, HomeLink, StopSignal, Task, push_flag};
use crate::tools;
use crate::usage::{Counted, Tokens, micro_usd};
use crate::version::Version;

/// How often it retries a request. Four retries bridge a hiccup in eight seconds. Its default of
/// ten takes three minutes, during which the run only holds a slot.
const RETRIES: &str = "4";

pub(crate) fn facts() -> Facts {
    Facts {
        name: "claude",
        program: "claude",
        // Both signals end its tools, but on SIGINT it exits with code 0.
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: Some(Family::Anthropic),
        sessions: Sessions::NamedAndResumed,
        takes_schema: true,
        tells_cost: true,
        executes: &[],
        tried: Some((Version::new(2, 1, 197), Version::new(2, 1, 325))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Command(&["auth", "status"]),
        hosts: &[
            "api.anthropic.com",
            "console.anthropic.com",
            "platform.claude.com",
        ],
        gateways: &[
            Gateway {
                key_variable: "ANTHROPIC_API_KEY",
                told_by: ToldBy::Variable("ANTHROPIC_BASE_URL"),
                upstream: "https://api.anthropic.com",
                header: "x-api-key",
                value_prefix: "",
            },
            Gateway {
                key_variable: "ANTHROPIC_AUTH_TOKEN",
                told_by: ToldBy::Variable("ANTHROPIC_BASE_URL"),
                upstream: "https://api.anthropic.com",
                header: "authorization",
                value_prefix: "Bearer ",
            },
            Gateway {
                key_variable: "CLAUDE_CODE_OAUTH_TOKEN",
                told_by: ToldBy::Variable("ANTHROPIC_BASE_URL"),
                upstream: "https://api.anthropic.com",
                header: "authorization",
                value_prefix: "Bearer ",
            },
        ],
        install: "npm install -g @anthropic-ai/claude-code",
        log_in: "claude auth login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    let mut args: Vec<String> = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        // Our own sandbox confines the run, and nobody is there to be asked.
        "--dangerously-skip-permissions",
        // These keep the repository's own MCP servers and hooks from running.
        "--strict-mcp-config",
        "--setting-sources",
        "user",
    ]
    .map(str::to_owned)
    .into();
    push_flag(&mut args, "--model", task.model.as_deref());
    push_flag(&mut args, "--effort", task.effort.as_deref());
    push_flag(&mut args, "--json-schema", task.schema.as_deref());
    match &task.session {
        Session::Fresh => {}
        Session::FreshAs(id) => push_flag(&mut args, "--session-id", Some(id.as_str())),
        Session::Resume(id) => push_flag(&mut args, "--resume", Some(id.as_str())),
    }
    args.extend(task.extra_args.iter().cloned());
    CommandSpec {
        program: task
            .program
            .clone()
            .unwrap_or_else(|| facts.program.to_owned()),
        args,
        env: environment(task),
        // With these it would believe that it runs inside another claude session.
        removed_env: ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"]
            .map(str::to_owned)
            .into(),
        pass_env: [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ]
        .map(str::to_owned)
        .into(),
        stdin: task.prompt.clone(),
        files: Vec::new(),
        links: vec![HomeLink {
            at: ".credentials.json".to_owned(),
            folder_variable: Some("CLAUDE_CONFIG_DIR"),
            folder: ".claude",
            file: ".credentials.json",
        }],
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

fn environment(task: &Task) -> BTreeMap<String, String> {
    let home = task.config_home.display().to_string();
    // The last four keep it from contacting its vendor's servers for anything but the model.
    [
        ("CLAUDE_CONFIG_DIR", home.as_str()),
        // As root it rejects `--dangerously-skip-permissions` unless this says that it is jailed.
        ("IS_SANDBOX", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// What a claude stream has reported about its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    end: Option<End>,
    /// Whether the plan's allowance is used up, by the last event that mentioned it.
    is_used_up: bool,
    /// When the allowance resets, in seconds since 1970.
    resets_at: Option<u64>,
    /// The error code of the last failed request.
    error: Option<String>,
    /// The model's last message, and the tokens of all messages so far. They are only shown: the
    /// result has the counts that are final.
    message: String,
    used: Tokens,
}

#[derive(Debug)]
struct End {
    is_error: bool,
    subtype: String,
    reason: String,
    evidence: Evidence,
    /// The first denied tool, and the question if that tool was one for asking.
    denied: Option<(String, Option<String>)>,
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        match json::text(event, &["type"]).unwrap_or_default() {
            "system" => system(event, record),
            "assistant" => self.assistant(event, record),
            "user" => tool_results(event, record),
            "result" => self.result(event, record),
            "rate_limit_event" => self.allowance(event, record),
            "stream_event" | "tool_progress" | "auth_status" | "prompt_suggestion"
            | "keep_alive" => {}
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, _: &Record, _: &Exit) -> Claim {
        let Some(end) = &self.end else {
            return Claim::Unfinished;
        };
        if !end.is_error {
            // A denied permission is not an error to claude: it exits with code 0.
            return match &end.denied {
                None => Claim::Done,
                Some((_, Some(question))) => Claim::Asked(question.clone()),
                Some((tool, None)) => Claim::Denied(format!("it was not allowed to use {tool}")),
            };
        }
        match (end.subtype.as_str(), end.reason.as_str()) {
            // Older versions give no reason when they are interrupted.
            (_, "aborted_tools" | "aborted_streaming") | ("error_during_execution", "") => {
                Claim::Interrupted
            }
            (
                "error_max_turns" | "error_max_budget_usd" | "error_max_structured_output_retries",
                _,
            )
            | (_, "max_turns" | "budget_exhausted") => {
                Claim::GaveUp(end.evidence.text().to_owned())
            }
            _ => Claim::Broke(end.evidence.clone()),
        }
    }
}

impl Stream {
    /// Reads a `rate_limit_event`, which claude sends only with a subscription login.
    fn allowance(&mut self, event: &Value, record: &mut Record) {
        let info = |key| json::at(event, &["rate_limit_info", key]);
        // A limit per minute is `rejected` too but is not a limit of the plan: such an event has
        // neither a type nor a reset time.
        let is_of_plan = info("rateLimitType").or_else(|| info("resetsAt")).is_some();
        self.is_used_up = is_of_plan && info("status").is_some_and(|status| status == "rejected");
        if self.is_used_up {
            self.resets_at = json::number(event, &["rate_limit_info", "resetsAt"]);
            let mut evidence = Evidence::of_text("the plan's allowance is used up");
            evidence.add_code(Some("usage_limit_reached"));
            evidence.set_reset(self.resets_at);
            record.retrying(evidence);
        }
    }

    fn assistant(&mut self, event: &Value, record: &mut Record) {
        if let Some(error) = json::text(event, &["error"]) {
            // The CLI wrote this message about a failed request; it is not the model's.
            self.error = Some(error.to_owned());
            let reset = ["api_error_params", "rate_limit_info", "resetsAt"];
            self.resets_at = json::number(event, &reset).or(self.resets_at);
            return;
        }
        // The model answered after all, for instance through paid usage beyond the plan.
        self.is_used_up = false;
        record.name_model(json::text(event, &["message", "model"]));
        self.message_used(event, record);
        let is_of_subagent = json::at(event, &["parent_tool_use_id"]).is_some();
        for part in json::list(event, &["message", "content"]) {
            match json::text(part, &["type"]) {
                // A subagent's text goes to the main agent and is not the run's answer.
                Some("text") if !is_of_subagent => {
                    record.said(json::text(part, &["text"]).unwrap_or_default());
                }
                Some("tool_use") => {
                    let tool = json::text(part, &["name"]).unwrap_or_default();
                    let input = json::at(part, &["input"]).unwrap_or(&Value::Null);
                    record.tool_started(Call {
                        id: json::text(part, &["id"]).unwrap_or_default(),
                        tool,
                        detail: &detail(input),
                        input: Some(input),
                        edits: tools::edits(tool, input),
                    });
                    record.planned(tools::plan(tool, input));
                }
                _ => {}
            }
        }
    }

    /// Shows the tokens of a message. claude sends one event for each part of a message, all with
    /// the same counts.
    fn message_used(&mut self, event: &Value, record: &mut Record) {
        let id = json::text(event, &["message", "id"]).unwrap_or_default();
        let Some(usage) = json::at(event, &["message", "usage"]).filter(|_| id != self.message)
        else {
            return;
        };
        id.clone_into(&mut self.message);
        self.used = self.used.plus(tokens(usage));
        record.tell_used(Some(self.used), None);
    }

    fn result(&mut self, event: &Value, record: &mut Record) {
        let text = |key| json::text(event, &[key]).unwrap_or_default();
        record.name_session(json::text(event, &["session_id"]));
        usage(event, record);
        let subtype = text("subtype");
        // A result without `is_error` counts as failed: never take an unknown end for success.
        let is_error =
            json::boolean(event, &["is_error"]).unwrap_or(true) || subtype.starts_with("error");
        let errors = json::list(event, &["errors"])
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("; ");
        // Interrupts and limits have no `result`; their text is in `errors`.
        let message = if text("result").is_empty() {
            &errors
        } else {
            text("result")
        };
        let status = json::number(event, &["api_error_status"])
            .and_then(|status| u16::try_from(status).ok());
        let mut evidence = Evidence::of_status(status, message);
        for code in [
            json::text(event, &["api_error"]),
            json::text(event, &["api_error_type"]),
        ] {
            evidence.add_code(code);
        }
        // A used-up allowance is the cause unless the result has a status that says otherwise.
        let is_limit = self.is_used_up && matches!(status, None | Some(429));
        evidence.add_code(is_limit.then_some("usage_limit_reached"));
        evidence.add_code(self.error.as_deref());
        evidence.add_code(json::text(event, &["terminal_reason"]));
        evidence.set_reset(self.resets_at);
        if is_error {
            record.gave_up(message);
        } else {
            // With `--json-schema` the answer is here. The field is absent if the model never
            // complied.
            let structured = json::at(event, &["structured_output"]).map(ToString::to_string);
            record.answered(structured.as_deref().unwrap_or(message));
        }
        record.tell_used(record.usage.tokens, record.usage.cost_micro_usd);
        let denied = denied(event);
        self.end = Some(End {
            is_error,
            subtype: subtype.to_owned(),
            reason: text("terminal_reason").to_owned(),
            evidence,
            denied,
        });
    }
}

fn system(event: &Value, record: &mut Record) {
    match json::text(event, &["subtype"]).unwrap_or_default() {
        "init" => {
            record.name_session(json::text(event, &["session_id"]));
            record.name_model(json::text(event, &["model"]));
        }
        "api_retry" => {
            let status = json::number(event, &["error_status"])
                .and_then(|status| u16::try_from(status).ok());
            let error = json::text(event, &["error"]).unwrap_or_default();
            let mut evidence = Evidence::of_status(status, error);
            // Without a status the server did not answer at all.
            let code = if status.is_none() && error == "unknown" {
                "connection_failed"
            } else {
                error
            };
            evidence.add_code(Some(code));
            record.retrying(evidence);
        }
        // On a signal claude reports its running tools as stopped, and right afterwards as ended.
        // They did not end by themselves, so a watchdog's signal still finds a tool running.
        "task_notification" if json::text(event, &["status"]) == Some("stopped") => {
            record.tool_was_stopped();
        }
        _ => {}
    }
}

fn tool_results(event: &Value, record: &mut Record) {
    for part in json::list(event, &["message", "content"]) {
        if json::text(part, &["type"]) == Some("tool_result") {
            record.tool_ended(&CallEnd {
                id: json::text(part, &["tool_use_id"]).unwrap_or_default(),
                failed: json::boolean(part, &["is_error"]).unwrap_or(false),
                result: json::at(part, &["content"]),
            });
        }
    }
}

/// A tool call's main argument, such as its command or its file.
fn detail(input: &Value) -> String {
    let keys = [
        "command",
        "file_path",
        "path",
        "pattern",
        "url",
        "description",
        "query",
    ];
    let detail = keys.iter().find_map(|key| json::text(input, &[key]));
    detail.unwrap_or_default().to_owned()
}

/// The first denied tool. A question also arrives as a denied tool, and goes first: a person can
/// answer it.
fn denied(event: &Value) -> Option<(String, Option<String>)> {
    let denials = json::list(event, &["permission_denials"]);
    let tool = |denial| json::text(denial, &["tool_name"]).unwrap_or("a tool");
    let asked = denials
        .iter()
        .find(|denial| tool(denial) == "AskUserQuestion");
    if let Some(denial) = asked {
        let first = json::list(denial, &["tool_input", "questions"]).first();
        let question = first.and_then(|first| json::text(first, &["question"]));
        let question = question
            .or_else(|| json::text(denial, &["tool_input", "question"]))
            .unwrap_or("not told");
        return Some(("AskUserQuestion".to_owned(), Some(question.to_owned())));
    }
    denials
        .first()
        .map(|denial| (tool(denial).to_owned(), None))
}

/// Reads tokens and cost. If claude reports usage per model since the last result, that counts,
/// because it includes subagents. Otherwise the tokens count this run and the cost counts the whole
/// session.
fn usage(event: &Value, record: &mut Record) {
    let usage = &mut record.usage;
    if let Some(models) =
        json::at(event, &["model_usage_since_last_result"]).and_then(Value::as_object)
    {
        let count = |model: &Value, key: &str| json::number(model, &[key]).unwrap_or_default();
        let tokens = models.values().fold(Tokens::default(), |sum, model| {
            let input = count(model, "inputTokens")
                .saturating_add(count(model, "cacheCreationInputTokens"));
            let cached = count(model, "cacheReadInputTokens");
            sum.plus(Tokens {
                input,
                cached,
                output: count(model, "outputTokens"),
            })
        });
        // One model without a price makes the whole sum unknown.
        let dollars = models
            .values()
            .map(|model| json::float(model, &["costUSD"]))
            .sum::<Option<f64>>();
        usage.tokens = Some(usage.tokens.unwrap_or_default().plus(tokens));
        let before = usage.cost_micro_usd.unwrap_or_default();
        usage.cost_micro_usd = dollars
            .and_then(micro_usd)
            .map(|cost| cost.saturating_add(before));
        return;
    }
    let Some(reported) = json::at(event, &["usage"]) else {
        return;
    };
    usage.tokens = Some(usage.tokens.unwrap_or_default().plus(tokens(reported)));
    usage.cost_micro_usd = json::float(event, &["total_cost_usd"]).and_then(micro_usd);
    usage.cost_of = Counted::Session;
}

fn tokens(reported: &Value) -> Tokens {
    let count = |key| json::number(reported, &[key]).unwrap_or_default();
    Tokens {
        input: count("input_tokens").saturating_add(count("cache_creation_input_tokens")),
        cached: count("cache_read_input_tokens"),
        output: count("output_tokens"),
    }
}
