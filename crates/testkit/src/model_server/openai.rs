//! `OpenAI`'s APIs: Responses, and Chat Completions, which many other providers offer too.

use std::io;

use serde_json::{Value, json};

use super::http::Answer;
use super::{Exchange, Turn, tools};

fn response(exchange: &Exchange<'_>, status: &str) -> Value {
    let id = exchange.shared.id("resp");
    json!({"id": id, "object": "response", "created_at": 0, "model": exchange.model(), "status": status, "output": []})
}

/// Sends an event of the Responses API. Its kind is both the event's name and a field of its data.
fn typed(answer: &mut Answer<'_>, kind: &str, mut data: Value) -> io::Result<()> {
    data["type"] = Value::from(kind);
    // Clients do not check that it counts up.
    data["sequence_number"] = Value::from(0);
    answer.event(Some(kind), &data)
}

pub(super) fn begin_responses(exchange: &Exchange<'_>, answer: &mut Answer<'_>) -> io::Result<()> {
    typed(
        answer,
        "response.created",
        json!({"response": response(exchange, "in_progress")}),
    )
}

pub(super) fn fail_responses(
    exchange: &Exchange<'_>,
    answer: &mut Answer<'_>,
    error: &Value,
) -> io::Result<()> {
    let mut response = response(exchange, "failed");
    response["error"] = error.clone();
    typed(answer, "response.failed", json!({ "response": response }))
}

pub(super) fn responses(
    exchange: &Exchange<'_>,
    turn: &Turn,
    answer: &mut Answer<'_>,
) -> io::Result<()> {
    let items = items(exchange, turn);
    let usage = exchange.step.usage;
    let mut response = response(exchange, "completed");
    response["output"] = Value::from(items.clone());
    response["usage"] = json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    });
    if !exchange.is_streaming() {
        return answer.json(200, &response);
    }
    answer.begin_stream()?;
    begin_responses(exchange, answer)?;
    for (index, item) in items.iter().enumerate() {
        send_item(answer, index, item)?;
    }
    typed(
        answer,
        "response.completed",
        json!({ "response": response }),
    )
}

/// The output items of a response: a message, a call of a tool, or both.
fn items(exchange: &Exchange<'_>, turn: &Turn) -> Vec<Value> {
    let mut items = Vec::new();
    if !turn.text.is_empty() {
        let content = json!([{"type": "output_text", "text": turn.text, "annotations": []}]);
        let id = exchange.shared.id("msg");
        items.push(json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content}));
    }
    if let Some(call) = &turn.call {
        let id = exchange.shared.id("fc");
        let call_id = exchange.shared.id("call");
        let mut item =
            json!({"id": id, "call_id": call_id, "name": call.name, "status": "completed"});
        if tools::is_custom(exchange.declared, &call.name) {
            // A custom tool takes text; an object becomes JSON text.
            item["type"] = Value::from("custom_tool_call");
            item["input"] = Value::from(
                call.arguments
                    .as_str()
                    .map_or(call.arguments.to_string(), str::to_owned),
            );
        } else {
            item["type"] = Value::from("function_call");
            item["arguments"] = Value::from(call.arguments.to_string());
        }
        items.push(item);
    }
    items
}

/// Streams one item: it is announced empty, its content follows, and then it comes once more as a
/// whole.
fn send_item(answer: &mut Answer<'_>, index: usize, item: &Value) -> io::Result<()> {
    let mut opened = item.clone();
    opened["status"] = Value::from("in_progress");
    for (key, empty) in [
        ("content", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
    ] {
        if !item[key].is_null() {
            opened[key] = empty;
        }
    }
    typed(
        answer,
        "response.output_item.added",
        json!({"output_index": index, "item": opened}),
    )?;
    // Every event names the item that it belongs to.
    let place = |mut data: Value| {
        data["item_id"] = item["id"].clone();
        data["output_index"] = Value::from(index);
        data
    };
    if let Some(text) = item["content"][0]["text"].as_str() {
        let part = json!({"type": "output_text", "text": "", "annotations": []});
        typed(
            answer,
            "response.content_part.added",
            place(json!({"content_index": 0, "part": part})),
        )?;
        typed(
            answer,
            "response.output_text.delta",
            place(json!({"content_index": 0, "delta": text})),
        )?;
        typed(
            answer,
            "response.output_text.done",
            place(json!({"content_index": 0, "text": text})),
        )?;
    } else if let Some(arguments) = item["arguments"].as_str() {
        typed(
            answer,
            "response.function_call_arguments.delta",
            place(json!({ "delta": arguments })),
        )?;
        typed(
            answer,
            "response.function_call_arguments.done",
            place(json!({ "arguments": arguments })),
        )?;
    }
    typed(
        answer,
        "response.output_item.done",
        json!({"output_index": index, "item": item}),
    )
}

/// One event of a Chat Completions stream.
fn chunk(exchange: &Exchange<'_>, delta: &Value, finish_reason: &Value) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    let object = "chat.completion.chunk";
    json!({"id": "chatcmpl-scripted", "object": object, "created": 0, "model": exchange.model(), "choices": [choice]})
}

pub(super) fn begin_chat(exchange: &Exchange<'_>, answer: &mut Answer<'_>) -> io::Result<()> {
    answer.event(
        None,
        &chunk(
            exchange,
            &json!({"role": "assistant", "content": ""}),
            &Value::Null,
        ),
    )
}

pub(super) fn chat(
    exchange: &Exchange<'_>,
    turn: &Turn,
    answer: &mut Answer<'_>,
) -> io::Result<()> {
    let step = exchange.step.usage;
    let usage = json!({
        "prompt_tokens": step.input,
        "completion_tokens": step.output,
        "total_tokens": step.input + step.output,
        "prompt_tokens_details": {"cached_tokens": step.cached},
    });
    let calls = turn.call.as_ref().map(|call| {
        let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
        json!([{"index": 0, "id": exchange.shared.id("call"), "type": "function", "function": function}])
    });
    let finish = Value::from(if calls.is_some() {
        "tool_calls"
    } else {
        "stop"
    });
    if !exchange.is_streaming() {
        let mut message = json!({"role": "assistant", "content": turn.text});
        if let Some(calls) = calls {
            message["tool_calls"] = calls;
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let object = "chat.completion";
        return answer.json(
            200,
            &json!({"id": "chatcmpl-scripted", "object": object, "created": 0, "model": exchange.model(),
                    "choices": [choice], "usage": usage}),
        );
    }
    answer.begin_stream()?;
    begin_chat(exchange, answer)?;
    if !turn.text.is_empty() {
        answer.event(
            None,
            &chunk(exchange, &json!({"content": turn.text}), &Value::Null),
        )?;
    }
    if let Some(calls) = calls {
        answer.event(
            None,
            &chunk(exchange, &json!({ "tool_calls": calls }), &Value::Null),
        )?;
    }
    answer.event(None, &chunk(exchange, &json!({}), &finish))?;
    // The usage comes in an event of its own, after the last choice.
    let mut last = chunk(exchange, &json!({}), &Value::Null);
    last["choices"] = json!([]);
    last["usage"] = usage;
    answer.event(None, &last)?;
    answer.end_mark()
}
