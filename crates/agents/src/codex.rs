//! codex: `codex exec --json`. Only `turn.completed` and `turn.failed` decide; `error` is mostly a
//! notice of a retry.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, Family, LoginCheck, Sessions};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::Record;
use crate::reset::Passed;
use crate::session::Session;
use crate::spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task, named_by_content};
use crate::usage::{Counted, Tokens};
use crate::version::Version;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "codex",
        program: "codex",
        // On SIGTERM the children of its tools survive.
        stop_signal: StopSignal::Int,
        wall_secs: 15 * 60,
        idle_secs: 10 * 60,
        family: Some(Family::OpenAi),
        sessions: Sessions::Resumed,
        takes_schema: true,
        tells_cost: false,
        executes: &[],
        tried: Some((Version::new(0, 166, 0), Version::new(0, 166, 0))),
        known_bad: &[],
        version_args: &["--version"],
        login: LoginCheck::Command(&["login", "status"]),
        install: "npm install -g @openai/codex",
        log_in: "codex login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    let mut args: Vec<String> = [
        "exec",
        "--json",
        // Our sandbox is the wall.
        "--dangerously-bypass-approvals-and-sandbox",
        "--skip-git-repo-check",
        // Without these it asks its maker's servers before it begins.
        "--disable",
        "plugins",
        "-c",
        "analytics.enabled=false",
        "-c",
        "check_for_update_on_startup=false",
    ]
    .map(str::to_owned)
    .into();
    args.extend(["-c".to_owned(), distrust(task)]);
    if let Some(model) = &task.model {
        args.extend(["-m".to_owned(), model.clone()]);
    }
    if let Some(effort) = &task.effort {
        args.extend([
            "-c".to_owned(),
            format!("model_reasoning_effort={}", Value::from(effort.as_str())),
        ]);
    }
    // It must exist before codex starts, and codex adds the folders to it that it was run in.
    let mut files = vec![HomeFile {
        path: "config.toml".to_owned(),
        content: String::new(),
        keep: Keep::Theirs,
    }];
    if let Some(schema) = &task.schema {
        let path = named_by_content("schema", "json", schema);
        args.extend([
            "--output-schema".to_owned(),
            task.config_home.join(&path).display().to_string(),
        ]);
        files.push(HomeFile {
            path,
            content: schema.clone(),
            keep: Keep::Ours,
        });
    }
    args.extend(task.extra_args.iter().cloned());
    if let Session::Resume(id) = &task.session {
        args.extend(["resume".to_owned(), id.as_str().to_owned()]);
    }
    args.push("-".to_owned());
    CommandSpec {
        program: task
            .program
            .clone()
            .unwrap_or_else(|| facts.program.to_owned()),
        args,
        env: BTreeMap::from([(
            "CODEX_HOME".to_owned(),
            task.config_home.display().to_string(),
        )]),
        removed_env: Vec::new(),
        pass_env: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]
            .map(str::to_owned)
            .into(),
        stdin: task.prompt.clone(),
        files,
        links: vec![HomeLink {
            at: "auth.json".to_owned(),
            folder_variable: Some("CODEX_HOME"),
            folder: ".codex",
            file: "auth.json",
        }],
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

/// Without this it takes the checkout for a trusted project, and then starts whatever servers its
/// `.codex` names. The table must be given whole: a dotted key is not heeded.
fn distrust(task: &Task) -> String {
    let checkout = Value::from(task.checkout.display().to_string());
    format!("projects={{{checkout}={{trust_level=\"untrusted\"}}}}")
}

/// What a stream of codex has said of its end.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    end: End,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    None,
    Completed,
    Failed(Evidence),
}

impl Dialect for Stream {
    fn event(&mut self, event: &Value, record: &mut Record) {
        match json::text(event, &["type"]).unwrap_or_default() {
            "thread.started" => record.name_session(json::text(event, &["thread_id"])),
            "item.started" => started(event, record),
            "turn.started" | "item.updated" => {}
            "item.completed" => completed(event, record),
            // A notice, unless nothing comes after it.
            "error" => {
                record.retrying(Evidence::of_text(
                    json::text(event, &["message"]).unwrap_or_default(),
                ));
            }
            "turn.completed" => {
                record.usage.tokens = tokens(event);
                record.usage.tokens_of = Counted::Session;
                self.end = End::Completed;
            }
            "turn.failed" => {
                let message = json::text(event, &["error", "message"])
                    .or_else(|| json::text(event, &["error"]));
                let mut evidence = Evidence::of_text(message.unwrap_or_default());
                // It names the day wherever that is not today.
                evidence.passed = Passed::IsOver;
                self.end = End::Failed(evidence);
            }
            _ => record.unknown_event(),
        }
    }

    fn claim(&self, _: &Record, _: &Exit) -> Claim {
        match &self.end {
            End::None => Claim::Unfinished,
            End::Completed => Claim::Done,
            End::Failed(evidence) => Claim::Broke(evidence.clone()),
        }
    }
}

fn started(event: &Value, record: &mut Record) {
    if let Some((tool, detail)) = tool(event) {
        record.tool_started(tool, &detail);
    }
}

fn completed(event: &Value, record: &mut Record) {
    match json::text(event, &["item", "type"]).unwrap_or_default() {
        "agent_message" => record.said(json::text(event, &["item", "text"]).unwrap_or_default()),
        // Warnings, such as a model that it does not know.
        "error" | "reasoning" | "todo_list" => {}
        _ if tool(event).is_some() => {
            record.tool_ended(json::text(event, &["item", "status"]) == Some("failed"));
        }
        _ => record.unknown_event(),
    }
}

fn tool(event: &Value) -> Option<(&str, String)> {
    let text = |key| {
        json::text(event, &["item", key])
            .unwrap_or_default()
            .to_owned()
    };
    let kind = json::text(event, &["item", "type"])?;
    let detail = match kind {
        "command_execution" => text("command"),
        "file_change" => {
            let changes = json::list(event, &["item", "changes"]);
            let paths: Vec<&str> = changes
                .iter()
                .filter_map(|change| json::text(change, &["path"]))
                .take(8)
                .collect();
            paths.join(" ")
        }
        "mcp_tool_call" | "collab_tool_call" => text("tool"),
        "web_search" => text("query"),
        _ => return None,
    };
    Some((kind, detail))
}

/// Its input tokens include the cached ones.
fn tokens(event: &Value) -> Option<Tokens> {
    let usage = json::at(event, &["usage"])?;
    let count = |key| json::number(usage, &[key]).unwrap_or_default();
    let cached = count("cached_input_tokens");
    let input = json::number(usage, &["input_tokens"])?.saturating_sub(cached);
    Some(Tokens {
        input,
        cached,
        output: count("output_tokens"),
    })
}
