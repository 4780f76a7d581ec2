//! codex: `codex exec --json`. Only `turn.completed` and `turn.failed` decide how a run ended. An
//! `error` event is usually a retry notice or a warning.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::facts::{Facts, Family, LoginCheck, Sessions};
use crate::gateway::{Gateway, ToldBy};
use crate::json;
use crate::parser::{Claim, Dialect};
use crate::record::{Call, CallEnd, Record};
use crate::reset::Passed;
use crate::session::Session;
use crate::spec::{
    CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task, named_by_content, push_flag,
};
use crate::tools;
use crate::usage::{Counted, Tokens};
use crate::version::Version;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "codex",
        program: "codex",
        // SIGTERM would leave the children of its tools running.
        stop_signal: StopSignal::Int,
        wall_secs: 15 * 60,
        // codex never gives up on a server that it cannot reach, and waits out a `retry-after` of
        // an hour after a single notice. Only a watchdog ends it.
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
        hosts: &["api.openai.com", "chatgpt.com", "auth.openai.com"],
        gateways: &[
            Gateway {
                key_variable: "CODEX_API_KEY",
                told_by: ToldBy::CodexProvider,
                upstream: "https://api.openai.com/v1",
                header: "authorization",
                value_prefix: "Bearer ",
            },
            Gateway {
                key_variable: "OPENAI_API_KEY",
                told_by: ToldBy::CodexProvider,
                upstream: "https://api.openai.com/v1",
                header: "authorization",
                value_prefix: "Bearer ",
            },
        ],
        install: "npm install -g @openai/codex",
        log_in: "codex login",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    let mut args: Vec<String> = [
        "exec",
        "--json",
        // Our own sandbox confines the run, and nobody is there to be asked.
        "--dangerously-bypass-approvals-and-sandbox",
        // Without it codex refuses to run outside a git repository.
        "--skip-git-repo-check",
        // Without these it contacts its vendor's servers before it starts.
        "--disable",
        "plugins",
        "-c",
        "analytics.enabled=false",
        "-c",
        "check_for_update_on_startup=false",
    ]
    .map(str::to_owned)
    .into();
    push_flag(&mut args, "-c", Some(&distrust(task)));
    push_flag(&mut args, "-m", task.model.as_deref());
    if let Some(effort) = &task.effort {
        // The value is TOML. A JSON string is also a TOML string, so quotes in it are harmless.
        let setting = format!("model_reasoning_effort={}", Value::from(effort.as_str()));
        push_flag(&mut args, "-c", Some(&setting));
    }
    // codex needs an existing home and adds every folder it runs in to this file.
    let mut files = vec![HomeFile {
        path: "config.toml".to_owned(),
        content: String::new(),
        keep: Keep::Theirs,
    }];
    if let Some(schema) = &task.schema {
        let path = named_by_content("schema", "json", schema);
        let full_path = task.config_home.join(&path).display().to_string();
        push_flag(&mut args, "--output-schema", Some(&full_path));
        files.push(HomeFile {
            path,
            content: schema.clone(),
            keep: Keep::Ours,
        });
    }
    args.extend(task.extra_args.iter().cloned());
    if let Session::Resume(id) = &task.session {
        // A subcommand, so all flags must come before it.
        args.extend(["resume".to_owned(), id.as_str().to_owned()]);
    }
    // Read the prompt from standard input.
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

/// The setting that marks the checkout as untrusted. Without it codex trusts the checkout and
/// starts whatever MCP servers its `.codex` folder names. The table must be given whole: codex
/// ignores a dotted key.
fn distrust(task: &Task) -> String {
    let checkout = Value::from(task.checkout.display().to_string());
    format!("projects={{{checkout}={{trust_level=\"untrusted\"}}}}")
}

/// What a codex stream has reported about its end.
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
            "item.updated" => planned(event, record),
            "turn.started" => {}
            "item.completed" => completed(event, record),
            // A retry notice. It counts as the cause only if nothing comes after it.
            "error" => {
                record.retrying(Evidence::of_text(
                    json::text(event, &["message"]).unwrap_or_default(),
                ));
            }
            "turn.completed" => {
                record.usage.tokens = tokens(event);
                // A resumed session reports the tokens of all its runs.
                record.usage.tokens_of = Counted::Session;
                record.tell_used(record.usage.tokens, None);
                self.end = End::Completed;
            }
            "turn.failed" => {
                let message = json::text(event, &["error", "message"])
                    .or_else(|| json::text(event, &["error"]));
                record.gave_up(message.unwrap_or_default());
                let mut evidence = Evidence::of_text(message.unwrap_or_default());
                // codex names the day whenever a limit does not reset today, so a time of day that
                // has passed does not mean tomorrow.
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

/// Notes a tool call. A rejected `apply_patch` produces no item at all, so it is not counted.
fn started(event: &Value, record: &mut Record) {
    if let Some((tool, detail)) = tool(event) {
        record.tool_started(Call {
            id: id(event),
            tool,
            detail: &detail,
            input: None,
            edits: tools::changed(json::list(event, &["item", "changes"])),
        });
    }
    planned(event, record);
}

fn completed(event: &Value, record: &mut Record) {
    match json::text(event, &["item", "type"]).unwrap_or_default() {
        "agent_message" => record.said(json::text(event, &["item", "text"]).unwrap_or_default()),
        // An `error` item is a warning, for instance about a model that codex does not know.
        "error" | "reasoning" => {}
        "todo_list" => planned(event, record),
        _ if tool(event).is_some() => {
            record.tool_ended(&CallEnd {
                id: id(event),
                failed: json::text(event, &["item", "status"]) == Some("failed"),
                result: json::at(event, &["item", "aggregated_output"]),
            });
        }
        _ => record.unknown_event(),
    }
}

fn id(event: &Value) -> &str {
    json::text(event, &["item", "id"]).unwrap_or_default()
}

fn planned(event: &Value, record: &mut Record) {
    record.planned(tools::steps(json::list(event, &["item", "items"])));
}

/// The tool that an item stands for, with its main argument. `None` if the item is no tool call.
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
                // Enough to show; the text is cut short anyway.
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

/// Reads token counts. codex counts cached tokens as input too, so they are taken off.
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
