//! Reads what an agent sends unasked: pieces of messages, tool calls, costs. The protocol crate's
//! types are not used, because they refuse what a newer agent adds and drop what agents put beside
//! the protocol.

use serde_json::Value;

use crate::report::{Event, Report};

/// Reads one update of the session. An update that means nothing to us, such as a thought, still
/// shows that the agent is alive.
pub(crate) fn take(update: &Value, report: &mut Report) {
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "agent_message_chunk" if update["content"]["type"] == "text" => {
            let text = update["content"]["text"].as_str().unwrap_or_default();
            report.say(update["messageId"].as_str(), text);
        }
        "tool_call" | "tool_call_update" => tool(update, report),
        "plan" => report.tell(&Event::Planned {
            steps: &update["entries"],
        }),
        "usage_update" => match cost(&update["cost"]) {
            Some(usd) => report.tell(&Event::Cost { usd }),
            None => report.alive(),
        },
        "session_info_update" => state(&update["_meta"], report),
        _ => report.alive(),
    }
}

/// Reports a tool call, and its end if the update says so.
pub(crate) fn tool(update: &Value, report: &mut Report) {
    let call = update["toolCallId"].as_str().unwrap_or_default();
    // Agents put a tool's name in different places; claude-agent-acp puts it into `_meta`. The
    // kind, such as `execute`, is the last resort.
    let names = [
        &update["name"],
        &update["_meta"]["claudeCode"]["toolName"],
        &update["kind"],
    ];
    let name = names.into_iter().find_map(Value::as_str).unwrap_or("tool");
    let details = [
        &update["rawInput"]["command"],
        &update["title"],
        &update["locations"][0]["path"],
    ];
    let detail = details
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
    report.tool_started(call, name, detail, &edits(update));
    match update["status"].as_str() {
        Some("completed") => report.tool_ended(call, false),
        Some("failed") => report.tool_ended(call, true),
        _ => {}
    }
}

/// The files that a call changes. Some agents know them only when the call has begun, and then no
/// line names them.
fn edits(update: &Value) -> Vec<&str> {
    const FILES_MAX: usize = 50;
    let locations = update["locations"].as_array();
    let locations = locations.filter(|_| update["kind"] == "edit");
    let paths = locations.into_iter().flatten();
    paths
        .filter_map(|location| location["path"].as_str())
        .take(FILES_MAX)
        .collect()
}

/// What the session has cost so far, in US dollars.
fn cost(cost: &Value) -> Option<f64> {
    cost["amount"]
        .as_f64()
        .filter(|_| cost["currency"] == "USD")
}

/// Reads codex-acp's own report, beside the protocol, that its turn has failed. Its answer to the
/// prompt does not say so: it is `end_turn` even after a 429.
fn state(meta: &Value, report: &mut Report) {
    let codex = &meta["codex"];
    if codex["error"]["willRetry"] == true {
        let why = codex["error"]["message"].as_str().unwrap_or_default();
        return report.tell(&Event::Retrying { why });
    }
    // A thread that becomes active again has recovered from its error.
    match codex["threadStatus"]["type"].as_str() {
        Some("systemError") => report.tell(&Event::Failing { is: true }),
        Some("active") => report.tell(&Event::Failing { is: false }),
        _ => report.alive(),
    }
}

/// Reports what a turn used, from the answer to the prompt. Agents put the counts into `usage` or
/// into `_meta`, under two spellings, or leave them out.
pub(crate) fn usage(answer: &Value, report: &mut Report) {
    let quota = &answer["_meta"]["quota"];
    let counts = [&answer["usage"], &quota["token_count"]]
        .into_iter()
        .find(|counts| counts.is_object());
    if let Some(counts) = counts {
        let count = |keys: &[&str]| keys.iter().find_map(|key| counts[*key].as_u64());
        report.tell(&Event::Usage {
            input: count(&["inputTokens", "input_tokens"]),
            cached: count(&["cachedReadTokens", "cachedInputTokens"]),
            written_to_cache: count(&["cachedWriteTokens"]),
            output: count(&["outputTokens", "output_tokens"]),
        });
    }
    if let Some(id) = quota["model_usage"][0]["model"].as_str() {
        report.tell(&Event::Model { id });
    }
}
