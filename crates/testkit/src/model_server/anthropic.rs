//! Anthropic's Messages API, streaming and not.

use std::io;

use serde_json::{Value, json};

use super::http::Answer;
use super::{Exchange, Turn};

fn message(exchange: &Exchange<'_>) -> Value {
    let usage = exchange.step.usage;
    json!({
        "id": exchange.shared.id("msg"),
        "type": "message",
        "role": "assistant",
        "model": exchange.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            // Unlike the other APIs, this one does not count cached tokens as input.
            "input_tokens": usage.input.saturating_sub(usage.cached),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached,
            // The count so far. The final one comes at the end of the message.
            "output_tokens": 1,
        },
    })
}

pub(super) fn begin(exchange: &Exchange<'_>, answer: &mut Answer<'_>) -> io::Result<()> {
    typed(
        answer,
        "message_start",
        json!({"message": message(exchange)}),
    )
}

/// Sends an event. Its kind is both the event's name and a field of its data.
fn typed(answer: &mut Answer<'_>, kind: &str, mut data: Value) -> io::Result<()> {
    data["type"] = Value::from(kind);
    answer.event(Some(kind), &data)
}

pub(super) fn messages(
    exchange: &Exchange<'_>,
    turn: &Turn,
    answer: &mut Answer<'_>,
) -> io::Result<()> {
    let blocks = blocks(exchange, turn);
    let stop = if turn.call.is_some() {
        "tool_use"
    } else {
        "end_turn"
    };
    let output = exchange.step.usage.output;
    if !exchange.is_streaming() {
        let mut message = message(exchange);
        message["content"] = Value::from(blocks);
        message["stop_reason"] = Value::from(stop);
        message["usage"]["output_tokens"] = Value::from(output);
        return answer.json(200, &message);
    }
    answer.begin_stream()?;
    begin(exchange, answer)?;
    for (index, block) in blocks.iter().enumerate() {
        let (opened, delta) = if block["type"] == "text" {
            (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": block["text"]}),
            )
        } else {
            // A tool call starts with empty input, which then arrives as pieces of JSON text.
            let mut opened = block.clone();
            opened["input"] = json!({});
            (
                opened,
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
            )
        };
        typed(
            answer,
            "content_block_start",
            json!({"index": index, "content_block": opened}),
        )?;
        typed(
            answer,
            "content_block_delta",
            json!({"index": index, "delta": delta}),
        )?;
        typed(answer, "content_block_stop", json!({ "index": index }))?;
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    typed(
        answer,
        "message_delta",
        json!({"delta": delta, "usage": {"output_tokens": output}}),
    )?;
    typed(answer, "message_stop", json!({}))
}

fn blocks(exchange: &Exchange<'_>, turn: &Turn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !turn.text.is_empty() {
        blocks.push(json!({"type": "text", "text": turn.text}));
    }
    if let Some(call) = &turn.call {
        let id = exchange.shared.id("toolu");
        blocks.push(
            json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments}),
        );
    }
    blocks
}
