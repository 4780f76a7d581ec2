//! Any agent that speaks the Agent Client Protocol, by way of our own client (`loopwright
//! acp-client`), whose lines are read here. The protocol tells little of failures: some agents
//! answer `end_turn` and put the error into the chat.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::classify::classify;
use crate::evidence::Evidence;
use crate::exit::{Clock, Exit};
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::json;
use crate::outcome::Outcome;
use crate::parser::{Claim, Dialect};
use crate::record::Record;
use crate::reset::Passed;
use crate::session::Session;
use crate::spec::{CONFIG_HOME, CONFIG_HOME_PLACEHOLDER, CommandSpec, StopSignal, Task};
use crate::usage::{Counted, Tokens, micro_usd};

/// Characters of a chat that may be nothing but an error. The longest that was seen has 180.
const ERROR_CHARS_MAX: usize = 400;

/// The errors of JSON-RPC that say nothing by themselves, and the one that the protocol has for
/// logins.
const INTERNAL_ERROR: i64 = -32603;
const AUTH_REQUIRED: i64 = -32000;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "the ACP agent",
        program: "",
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: None,
        sessions: Sessions::Resumed,
        takes_schema: false,
        tells_cost: false,
        // Any of them may be opencode.
        executes: &[".opencode/plugin", ".opencode/plugins"],
        tried: None,
        known_bad: &[],
        version_args: &[],
        login: LoginCheck::Unknown,
        install: "see its own page, and that `program` of its entry is its whole path",
        log_in: "its own command for that, or give it a key with `pass_env`",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    let home = task.config_home.display().to_string();
    let mut args = vec!["acp-client".to_owned()];
    let pair = |flag: &str, value: &str| [flag.to_owned(), value.to_owned()];
    args.extend(task.model.iter().flat_map(|model| pair("--model", model)));
    args.extend(
        task.effort
            .iter()
            .flat_map(|effort| pair("--effort", effort)),
    );
    if let Session::Resume(id) = &task.session {
        args.extend(pair("--resume", id.as_str()));
    }
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

/// What our client has told of an agent's turn.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    end: Option<End>,
    /// What was said after the agent had told that its turn fails; nothing while it does not.
    failing: Option<String>,
    /// The first thing that could not be allowed.
    denied: Option<String>,
    /// Whether a signal was passed on to the agent. What it does then says nothing of its turn.
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
                record.forget_answer();
                record.tool_started(text("tool"), text("detail"));
            }
            "tool_ended" => record.tool_ended(json::truth(event, &["failed"]) == Some(true)),
            "permission" if json::truth(event, &["allowed"]) == Some(false) => {
                self.denied.get_or_insert_with(|| text("what").to_owned());
            }
            "agent" | "mode" | "notice" | "alive" | "permission" => {}
            "retrying" => record.retrying(Evidence::of_text(text("why"))),
            "failing" => {
                self.failing = (json::truth(event, &["is"]) == Some(true)).then(String::new);
            }
            "usage" => record.usage.tokens = tokens(event),
            "cost" => {
                record.usage.cost_of = Counted::Session;
                record.usage.cost_micro_usd = json::float(event, &["usd"])
                    .and_then(micro_usd)
                    .filter(|cost| *cost > 0);
            }
            "stopped" => self.end = Some(End::Stopped(text("reason").to_owned())),
            "error" => self.end = Some(End::Error(evidence(event))),
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, record: &Record, exit: &Exit) -> Claim {
        match &self.end {
            // Whose signal it was tells more than the agent's answer to it.
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
    fn ended(&self, record: &Record) -> Claim {
        if let Some(said) = &self.failing {
            let said = if said.trim().is_empty() {
                "its turn failed"
            } else {
                said
            };
            return Claim::Broke(of_chat(said));
        }
        if let Some(error) = error_as_chat(record) {
            return Claim::Broke(error);
        }
        self.denied.clone().map_or(Claim::Done, Claim::Denied)
    }
}

/// The error that an agent put into its chat instead of its answer. A model that speaks of errors
/// has used tokens or tools, says more than a line, or answers with an object as it was asked to;
/// an agent whose request failed does none of this.
fn error_as_chat(record: &Record) -> Option<Evidence> {
    let said = record.answer()?;
    let said = said.trim();
    let is_used = record.usage.tokens.is_some_and(|tokens| tokens.total() > 0);
    let is_short = said.chars().nth(ERROR_CHARS_MAX).is_none() && !said.contains('\n');
    let is_answer = json::object_inside(said).is_some_and(|object| object.get("error").is_none());
    if is_used || record.n_tool_calls > 0 || !is_short || is_answer {
        return None;
    }
    let evidence = of_chat(said);
    is_failure(&evidence).then_some(evidence)
}

/// Says whether a line of chat is an error by the rules for errors. Loose words, such as those for
/// logins and networks, are no proof where nobody called it an error, and an agent's errors do not
/// speak of themselves as `I`.
fn is_failure(evidence: &Evidence) -> bool {
    let text = evidence.plain();
    let is_talk = text
        .split(' ')
        .any(|word| matches!(word, "i" | "i've" | "i'm" | "i'll"));
    let is_sure = evidence.status.is_some() || evidence.codes().next().is_some();
    // What time it is matters to when the trouble ends, not to what it is.
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

/// codex says in its chat what it says elsewhere, and names the day wherever that is not today.
fn of_chat(said: &str) -> Evidence {
    let mut evidence = Evidence::of_text(said.trim());
    evidence.passed = Passed::IsOver;
    evidence
}

/// An error of JSON-RPC: what agents put beside the code and the message differs.
fn evidence(event: &Value) -> Evidence {
    let code = json::at(event, &["code"])
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let mut evidence = Evidence::of_text(&error_text(event, code));
    if code == AUTH_REQUIRED {
        evidence.add_code(Some("authentication_failed"));
    }
    // gemini gives the status of the failed request as the code.
    evidence.status = u16::try_from(code)
        .ok()
        .filter(|code| (400..600).contains(code))
        .or(evidence.status);
    if let Some(data) = json::at(event, &["data"]) {
        evidence.add_body(&data.to_string());
        evidence.add_code(json::text(data, &["errorKind"]));
        let of_codex = json::text(data, &["codexErrorInfo"]);
        if let Some(kind) = of_codex {
            evidence.add_code(Some(&in_snake_case(kind)));
            evidence.passed = Passed::IsOver;
        }
    }
    evidence
}

/// The message without what every internal error says, and what the data adds.
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

/// `usageLimitExceeded` as other machines write it.
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

/// Both numbers must be told; half of it would be taken for all.
fn tokens(event: &Value) -> Option<Tokens> {
    let count = |key| json::number(event, &[key]);
    let written = count("written_to_cache").unwrap_or_default();
    Some(Tokens {
        input: count("input")?.saturating_add(written),
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
