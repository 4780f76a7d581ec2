//! gemini: `gemini --output-format stream-json`. Its exit code is the HTTP status of the failed
//! request, cut to a byte.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, Family, LoginCheck, Sessions};
use crate::gateway::{Gateway, ToldBy};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::session::Session;
use crate::spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task, push_flag};
use crate::tools;
use crate::usage::Tokens;
use crate::version::Version;

/// How many requests it makes before it gives up. Three bridge a hiccup in a quarter of a minute.
/// Its default of ten takes four minutes, during which the run only holds a slot; longer waits are
/// scheduled through the journal.
const ATTEMPTS: u32 = 3;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "gemini",
        program: "gemini",
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        idle_secs: 10 * 60,
        family: Some(Family::Google),
        sessions: Sessions::Resumed,
        takes_schema: false,
        tells_cost: false,
        executes: &[],
        tried: Some((Version::new(0, 61, 0), Version::new(0, 61, 0))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Credentials,
        hosts: &[
            "generativelanguage.googleapis.com",
            "cloudcode-pa.googleapis.com",
            "oauth2.googleapis.com",
            "aiplatform.googleapis.com",
        ],
        gateways: &[Gateway {
            key_variable: "GEMINI_API_KEY",
            told_by: ToldBy::Variable("GOOGLE_GEMINI_BASE_URL"),
            upstream: "https://generativelanguage.googleapis.com",
            header: "x-goog-api-key",
            value_prefix: "",
        }],
        install: "npm install -g @google/gemini-cli",
        log_in: "start gemini and choose how to log in, or set GEMINI_API_KEY",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    // gemini runs no tool on its own in a folder that it does not trust. `--skip-trust` lifts that
    // and still ignores the repository's hooks; GEMINI_CLI_TRUST_WORKSPACE would run them too.
    let mut args: Vec<String> = [
        "--output-format",
        "stream-json",
        "--yolo",
        "--skip-trust",
        "--allowed-mcp-server-names=none",
    ]
    .map(str::to_owned)
    .into();
    push_flag(&mut args, "-m", task.model.as_deref());
    if let Session::Resume(id) = &task.session {
        push_flag(&mut args, "--resume", Some(id.as_str()));
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
            "GEMINI_CLI_TRUST_WORKSPACE",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        ]
        .map(str::to_owned)
        .into(),
        pass_env: [
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_CLOUD_PROJECT",
        ]
        .map(str::to_owned)
        .into(),
        stdin: task.prompt.clone(),
        files: vec![HomeFile {
            path: ".gemini/settings.json".to_owned(),
            content: settings(),
            keep: Keep::Theirs,
        }],
        links: vec![HomeLink {
            at: ".gemini/oauth_creds.json".to_owned(),
            folder_variable: None,
            folder: ".gemini",
            file: "oauth_creds.json",
        }],
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

fn environment(task: &Task) -> BTreeMap<String, String> {
    let home = task.config_home.display().to_string();
    [
        ("GEMINI_CLI_HOME", home.as_str()),
        // Otherwise it runs as the child of a launcher that ignores signals.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn settings() -> String {
    let settings = json!({
        "general": { "enableAutoUpdate": false, "maxAttempts": ATTEMPTS },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "security": { "auth": { "selectedType": "gemini-api-key" } },
    });
    format!("{settings}\n")
}

/// What a gemini stream has reported about its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    end: Option<End>,
    /// The message of the last `error` event. The result does not always repeat it.
    last_error: String,
}

#[derive(Debug)]
enum End {
    Success,
    Error(Evidence),
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        let text = |key| json::text(event, &[key]).unwrap_or_default();
        match text("type") {
            "init" => {
                record.name_session(json::text(event, &["session_id"]));
                record.name_model(json::text(event, &["model"]));
            }
            "message" if text("role") == "assistant" => {
                if json::boolean(event, &["delta"]) == Some(true) {
                    record.said_more(text("content"));
                } else {
                    record.said(text("content"));
                }
            }
            "error" if text("severity") == "error" => {
                record.gave_up(text("message"));
                text("message").clone_into(&mut self.last_error);
            }
            // The user's prompt, or a warning.
            "message" | "error" => {}
            "tool_use" => {
                // The answer is what it says after its last tool call.
                record.forget_answer();
                let keys = ["command", "file_path", "path", "pattern"];
                let detail = keys
                    .iter()
                    .find_map(|key| json::text(event, &["parameters", key]));
                let input = json::at(event, &["parameters"]).unwrap_or(&Value::Null);
                record.tool_started(Call {
                    id: text("tool_id"),
                    tool: text("tool_name"),
                    detail: detail.unwrap_or_default(),
                    input: Some(input),
                    edits: tools::edits(text("tool_name"), input),
                });
                record.planned(tools::plan(text("tool_name"), input));
            }
            "tool_result" => record.tool_ended(&CallEnd {
                id: text("tool_id"),
                failed: text("status") == "error",
                result: json::at(event, &["output"]),
            }),
            "result" => {
                record.usage.tokens = tokens(event);
                record.tell_used(record.usage.tokens, None);
                self.end = Some(if text("status") == "success" {
                    End::Success
                } else {
                    // After a broken stream the result says `error` and nothing more.
                    let message =
                        json::text(event, &["error", "message"]).unwrap_or(&self.last_error);
                    let mut evidence = Evidence::of_text(message);
                    evidence.add_code(json::text(event, &["error", "type"]));
                    End::Error(evidence)
                });
            }
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, _: &Record, exit: &Exit) -> Claim {
        match (&self.end, exit.code.and_then(meaning)) {
            (_, Some(Meaning::TurnLimit)) => Claim::GaveUp("it ran out of turns".to_owned()),
            (Some(End::Success), _) => Claim::Done,
            (Some(End::Error(evidence)), Some(Meaning::Status(status))) => {
                let mut evidence = evidence.clone();
                evidence.status = Some(status);
                Claim::Broke(evidence)
            }
            (Some(End::Error(evidence)), Some(Meaning::Code(code))) => {
                let mut evidence = evidence.clone();
                evidence.add_code(Some(code));
                Claim::Broke(evidence)
            }
            (Some(End::Error(evidence)), None) => Claim::Broke(evidence.clone()),
            // A missing login ends it before the stream begins; the reason is on standard error.
            (None, Some(Meaning::Code(code))) => {
                let mut evidence = Evidence::of_text(&exit.stderr_tail);
                evidence.add_code(Some(code));
                Claim::Broke(evidence)
            }
            (None, _) => Claim::Unfinished,
        }
    }
}

enum Meaning {
    Status(u16),
    Code(&'static str),
    TurnLimit,
}

/// The meaning of an exit code: one of gemini's own codes, or an HTTP status cut to a byte. The
/// error in the stream only has the type `unknown`, so the exit code is the better evidence.
fn meaning(code: i32) -> Option<Meaning> {
    match code {
        41 => Some(Meaning::Code("authentication_failed")),
        53 => Some(Meaning::TurnLimit),
        // 529 - 2 * 256. All other statuses of interest lie between 400 and 511.
        17 => Some(Meaning::Status(529)),
        144..=255 => u16::try_from(code + 256).ok().map(Meaning::Status),
        _ => None,
    }
}

/// Reads token counts. Thinking is missing from the output tokens but counted in the total, so the
/// total decides.
fn tokens(event: &Value) -> Option<Tokens> {
    let stats = json::at(event, &["stats"])?;
    let count = |key| json::number(stats, &[key]).unwrap_or_default();
    let all_input = count("input_tokens");
    let cached = count("cached");
    let output = count("output_tokens").max(count("total_tokens").saturating_sub(all_input));
    Some(Tokens {
        input: all_input.saturating_sub(cached),
        cached,
        output,
    })
}
