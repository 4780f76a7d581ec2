//! What an agent tells of its own accord: pieces of messages, calls of tools, costs. It is read
//! without the protocol's own types, which refuse what a newer agent adds and leave out what agents
//! put beside the protocol.

use serde_json::Value;

use crate::report::{Event, Report};

/// Takes one update of the session.
pub(crate) fn take(update: &Value, report: &mut Report) {
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "agent_message_chunk" if update["content"]["type"] == "text" => {
            let text = update["content"]["text"].as_str().unwrap_or_default();
            report.say(update["messageId"].as_str(), text);
        }
        "tool_call" | "tool_call_update" => tool(update, report),
        "usage_update" => match cost(&update["cost"]) {
            Some(usd) => report.tell(&Event::Cost { usd }),
            None => report.alive(),
        },
        "session_info_update" => state(&update["_meta"], report),
        _ => report.alive(),
    }
}

/// Tells of a call, and of its end where the update says so.
pub(crate) fn tool(update: &Value, report: &mut Report) {
    let call = update["toolCallId"].as_str().unwrap_or_default();
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
    report.tool_started(call, name, detail);
    match update["status"].as_str() {
        Some("completed") => report.tool_ended(call, false),
        Some("failed") => report.tool_ended(call, true),
        _ => {}
    }
}

/// What the session has cost so far.
fn cost(cost: &Value) -> Option<f64> {
    cost["amount"]
        .as_f64()
        .filter(|_| cost["currency"] == "USD")
}

/// codex tells beside the protocol that its turn has failed, which its answer to the prompt does
/// not say.
fn state(meta: &Value, report: &mut Report) {
    let codex = &meta["codex"];
    if codex["error"]["willRetry"] == true {
        let why = codex["error"]["message"].as_str().unwrap_or_default();
        return report.tell(&Event::Retrying { why });
    }
    match codex["threadStatus"]["type"].as_str() {
        Some("systemError") => report.tell(&Event::Failing { is: true }),
        Some("active") => report.tell(&Event::Failing { is: false }),
        _ => report.alive(),
    }
}

/// Tells what a turn used: in the answer to the prompt, or beside it.
pub(crate) fn usage(answer: &Value, report: &mut Report) {
    let count = |value: &Value, keys: &[&str]| keys.iter().find_map(|key| value[*key].as_u64());
    let quota = &answer["_meta"]["quota"];
    let told = [&answer["usage"], &quota["token_count"]]
        .into_iter()
        .find(|told| told.is_object());
    if let Some(told) = told {
        report.tell(&Event::Usage {
            input: count(told, &["inputTokens", "input_tokens"]),
            cached: count(told, &["cachedReadTokens", "cachedInputTokens"]),
            written_to_cache: count(told, &["cachedWriteTokens"]),
            output: count(told, &["outputTokens", "output_tokens"]),
        });
    }
    if let Some(id) = quota["model_usage"][0]["model"].as_str() {
        report.tell(&Event::Model { id });
    }
}
