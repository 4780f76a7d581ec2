//! Any agent that speaks the Agent Client Protocol (ACP). Our own client (`loopwright acp-client`)
//! runs the agent and prints one JSON event per line; this adapter starts the client and reads
//! those lines. The protocol says little about failures: some agents answer `end_turn` and put the
//! error into the chat.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::classify::classify;
use crate::evidence::Evidence;
use crate::exit::{Clock, Exit};
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::json;
use crate::outcome::Outcome;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::reset::Passed;
use crate::session::Session;
use crate::spec::{CONFIG_HOME, CONFIG_HOME_PLACEHOLDER, CommandSpec, StopSignal, Task, push_flag};
use crate::tools;
use crate::usage::{Counted, Tokens, micro_usd};

/// Longest chat message, in characters, that may be an error instead of an answer. The longest one
/// observed has 180.
const ERROR_CHARS_MAX: usize = 400;

/// JSON-RPC's internal error. Agents use it for every failure, so it says nothing by itself.
const INTERNAL_ERROR: i64 = -32603;
/// The protocol's own error code for a missing login.
const AUTH_REQUIRED: i64 = -32000;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "the ACP agent",
        program: "",
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        // gemini and opencode retry for up to four minutes over ACP without saying so.
        idle_secs: 10 * 60,
        family: None,
        sessions: Sessions::Resumed,
        takes_schema: false,
        // Some agents report a cost, but no budget may rely on it.
        tells_cost: false,
        // The configured program may be opencode, which loads these whatever it is told.
        executes: &[".opencode/plugin", ".opencode/plugins"],
        tried: None,
        known_bad: &[],
        version_args: &[],
        login: LoginCheck::Unknown,
        hosts: crate::facts::MODEL_HOSTS,
        gateways: &[],
        install: "see its own page, and that `program` of its entry is its whole path",
        log_in: "its own command for that, or give it a key with `pass_env`",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    let home = task.config_home.display().to_string();
    let mut args = vec!["acp-client".to_owned()];
    push_flag(&mut args, "--model", task.model.as_deref());
    push_flag(&mut args, "--effort", task.effort.as_deref());
    if let Session::Resume(id) = &task.session {
        push_flag(&mut args, "--resume", Some(id.as_str()));
    }
    // Everything after `--` belongs to the agent, so that none of it is read as a flag of ours.
    args.push("--".to_owned());
    args.push(task.program.clone().unwrap_or_default());
    args.extend(
        task.extra_args
            .iter()
            .map(|arg| arg.replace(CONFIG_HOME_PLACEHOLDER, &home)),
    );
    CommandSpec {
        program: task.client.display().to_string(),
        args,
        env: BTreeMap::from([(CONFIG_HOME.to_owned(), home)]),
        removed_env: Vec::new(),
        pass_env: Vec::new(),
        stdin: task.prompt.clone(),
        files: Vec::new(),
        links: Vec::new(),
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

/// What our client has reported about an agent's turn.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    end: Option<End>,
    /// The chat text since the agent reported that its turn is failing. `None` while it is not.
    failing: Option<String>,
    /// The first request for permission that could not be granted.
    denied: Option<String>,
    /// Whether the client passed a signal on to the agent. Anything the agent does after that says
    /// nothing about its turn.
    is_cancelled: bool,
}

#[derive(Debug)]
enum End {
    Stopped(String),
    Error(Evidence),
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        let text = |key| json::text(event, &[key]).unwrap_or_default();
        match text("type") {
            "cancelling" => self.is_cancelled = true,
            // Output after a cancel would count as progress and hide why the run was stopped.
            "text" | "tool_started" | "tool_ended" if self.is_cancelled => {}
            "session" => record.name_session(json::text(event, &["id"])),
            "model" => record.name_model(json::text(event, &["id"])),
            "text" => {
                record.said_more(text("text"));
                if let Some(said) = &mut self.failing
                    && said.len() < ERROR_CHARS_MAX
                {
                    said.push_str(text("text"));
                }
            }
            "tool_started" => {
                // The answer is what the agent says after its last tool call.
                record.forget_answer();
                let edits = json::list(event, &["edits"]).iter();
                record.tool_started(Call {
                    id: text("id"),
                    tool: text("tool"),
                    detail: text("detail"),
                    input: None,
                    edits: edits.filter_map(Value::as_str).map(str::to_owned).collect(),
                });
            }
            "tool_ended" => {
                record.tool_ended(&CallEnd {
                    id: text("id"),
                    failed: json::boolean(event, &["failed"]) == Some(true),
                    // Our client does not pass results on.
                    result: None,
                });
            }
            "planned" => record.planned(tools::steps(json::list(event, &["steps"]))),
            "permission" if json::boolean(event, &["allowed"]) == Some(false) => {
                self.denied.get_or_insert_with(|| text("what").to_owned());
            }
            "agent" | "mode" | "notice" | "alive" | "permission" => {}
            "retrying" => record.retrying(Evidence::of_text(text("why"))),
            // codex-acp reports a failed thread beside the protocol and then ends with `end_turn`.
            // If the thread becomes active again, the same event says so with `is` set to false.
            "failing" => {
                self.failing = (json::boolean(event, &["is"]) == Some(true)).then(String::new);
            }
            "usage" => {
                record.usage.tokens = tokens(event);
                record.tell_used(record.usage.tokens, record.usage.cost_micro_usd);
            }
            "cost" => {
                record.usage.cost_of = Counted::Session;
                // A cost of zero means that the agent has no price for the model.
                record.usage.cost_micro_usd = json::float(event, &["usd"])
                    .and_then(micro_usd)
                    .filter(|cost| *cost > 0);
                record.tell_used(record.usage.tokens, record.usage.cost_micro_usd);
            }
            "stopped" => self.end = Some(End::Stopped(text("reason").to_owned())),
            "error" => {
                let evidence = evidence(event);
                record.gave_up(evidence.text());
                self.end = Some(End::Error(evidence));
            }
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, record: &Record, exit: &Exit) -> Claim {
        match &self.end {
            // Who sent the signal matters more than how the agent answered it: our watchdog's
            // signal is judged as a timeout, any other one as an interruption.
            _ if self.is_cancelled && exit.is_timeout() => Claim::Unfinished,
            _ if self.is_cancelled => Claim::Interrupted,
            None => Claim::Unfinished,
            Some(End::Error(evidence)) => Claim::Broke(evidence.clone()),
            Some(End::Stopped(reason)) => match reason.as_str() {
                "end_turn" => self.ended(record),
                "cancelled" => Claim::Interrupted,
                "max_tokens" => Claim::GaveUp("its answer grew too long".to_owned()),
                "max_turn_requests" => Claim::GaveUp("it ran out of turns".to_owned()),
                "refusal" => Claim::GaveUp("it refused to go on".to_owned()),
                other => Claim::Broke(Evidence::of_text(&format!("it stopped with `{other}`"))),
            },
        }
    }
}

impl Stream {
    /// Judges an `end_turn`, which some agents also send after a failure.
    fn ended(&self, record: &Record) -> Claim {
        if let Some(chat) = &self.failing {
            let error = if chat.trim().is_empty() {
                "its turn failed"
            } else {
                chat
            };
            return Claim::Broke(chat_evidence(error));
        }
        if let Some(error) = error_as_chat(record) {
            return Claim::Broke(error);
        }
        self.denied.clone().map_or(Claim::Done, Claim::Denied)
    }
}

/// Finds an error that an agent put into its chat in place of an answer. A model that writes about
/// errors has used tokens or tools, writes more than one line, or answers with the JSON object it
/// was asked for. An agent whose request failed does none of these.
fn error_as_chat(record: &Record) -> Option<Evidence> {
    let answer = record.answer()?;
    let answer = answer.trim();
    let has_used_tokens = record.usage.tokens.is_some_and(|tokens| tokens.total() > 0);
    let is_short = answer.chars().nth(ERROR_CHARS_MAX).is_none() && !answer.contains('\n');
    // An object with an `error` key is the body of a failed request, not the answer asked for.
    let is_object = json::object_inside(answer).is_some_and(|object| object.get("error").is_none());
    if has_used_tokens || record.n_tool_calls > 0 || !is_short || is_object {
        return None;
    }
    let evidence = chat_evidence(answer);
    is_failure(&evidence).then_some(evidence)
}

/// Says whether a line of chat is an error by the rules for terminal errors. Nothing marks the line
/// as an error, so loose words, such as those for logins and networks, count only beside a status
/// or an error code. A line written in the first person is talk: agents do not write their errors
/// that way.
fn is_failure(evidence: &Evidence) -> bool {
    let text = evidence.plain();
    let is_talk = text
        .split(' ')
        .any(|word| matches!(word, "i" | "i've" | "i'm" | "i'll"));
    let is_sure = evidence.status.is_some() || evidence.codes().next().is_some();
    // The time of day affects only when the failure ends, so any clock will do here.
    match classify(evidence, &Clock::default()) {
        Some(
            Outcome::UsageLimit { .. }
            | Outcome::RateLimited { .. }
            | Outcome::Overloaded
            | Outcome::Billing
            | Outcome::ContextOverflow,
        ) => !is_talk,
        Some(_) => is_sure && !is_talk,
        None => false,
    }
}

/// Reads an error from chat text. codex uses the same wording here as in its own stream: it names
/// the day whenever a limit does not reset today, so a time of day that has passed is over.
fn chat_evidence(text: &str) -> Evidence {
    let mut evidence = Evidence::of_text(text.trim());
    evidence.passed = Passed::IsOver;
    evidence
}

/// Reads a JSON-RPC error. Each agent puts different fields beside the code and the message.
fn evidence(event: &Value) -> Evidence {
    let code = json::at(event, &["code"])
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let mut evidence = Evidence::of_text(&error_text(event, code));
    if code == AUTH_REQUIRED {
        evidence.add_code(Some("authentication_failed"));
    }
    // gemini gives the HTTP status of the failed request as the code.
    evidence.status = u16::try_from(code)
        .ok()
        .filter(|code| (400..600).contains(code))
        .or(evidence.status);
    if let Some(data) = json::at(event, &["data"]) {
        evidence.add_body(&data.to_string());
        // `errorKind` comes from claude-agent-acp, `codexErrorInfo` from codex-acp.
        evidence.add_code(json::text(data, &["errorKind"]));
        if let Some(kind) = json::text(data, &["codexErrorInfo"]) {
            evidence.add_code(Some(&in_snake_case(kind)));
            evidence.passed = Passed::IsOver;
        }
    }
    evidence
}

/// The message without the prefix that every internal error has, plus what the data adds. The
/// prefix must go: `internal error` is also a phrase for an overloaded server.
fn error_text(event: &Value, code: i64) -> String {
    let message = json::text(event, &["message"]).unwrap_or_default().trim();
    let detail = json::text(event, &["data", "message"])
        .or_else(|| json::text(event, &["data", "details"]))
        .or_else(|| json::text(event, &["data"]))
        .unwrap_or_default();
    let own = match message.strip_prefix("Internal error") {
        Some(rest) if code == INTERNAL_ERROR => rest.trim_start_matches([':', ' ']),
        _ => message,
    };
    match (own, detail) {
        ("", "") => format!("error {code} without a word"),
        (own, "") => own.to_owned(),
        ("", detail) => detail.to_owned(),
        (own, detail) if own.contains(detail) => own.to_owned(),
        (own, detail) => format!("{own}: {detail}"),
    }
}

/// Turns `usageLimitExceeded` into `usage_limit_exceeded`, the spelling of the known codes.
fn in_snake_case(word: &str) -> String {
    let mut snake = String::new();
    for letter in word.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Reads token counts. Input and output must both be present: a partial count would be taken for
/// the whole.
fn tokens(event: &Value) -> Option<Tokens> {
    let count = |key| json::number(event, &[key]);
    let cache_writes = count("written_to_cache").unwrap_or_default();
    Some(Tokens {
        input: count("input")?.saturating_add(cache_writes),
        cached: count("cached").unwrap_or_default(),
        output: count("output")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_as() {
        for (line, expected) in [
            (
                r#"{"code":-32603,"message":"Internal error: too many"}"#,
                "too many",
            ),
            (
                r#"{"code":-32603,"message":"Internal error"}"#,
                "error -32603 without a word",
            ),
            (
                r#"{"code":-32603,"message":"Internal error","data":{"message":"no room"}}"#,
                "no room",
            ),
            (
                r#"{"code":-32603,"message":"Internal error","data":"no room"}"#,
                "no room",
            ),
            (
                r#"{"code":500,"message":"Internal error"}"#,
                "Internal error",
            ),
            (
                r#"{"code":-32602,"message":"Bad","data":{"details":"cwd"}}"#,
                "Bad: cwd",
            ),
        ] {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(evidence(&event).text(), expected, "{line}");
        }
        assert_eq!(in_snake_case("usageLimitExceeded"), "usage_limit_exceeded");
    }
}
