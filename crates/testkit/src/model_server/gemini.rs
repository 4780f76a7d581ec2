//! Gemini's API: `generateContent` and `streamGenerateContent`.

use std::io;

use serde_json::{Value, json};

use super::http::Answer;
use super::{Exchange, Turn};

pub(super) fn content(
    exchange: &Exchange<'_>,
    turn: &Turn,
    answer: &mut Answer<'_>,
) -> io::Result<()> {
    let mut parts: Vec<Value> = Vec::new();
    if !turn.text.is_empty() {
        parts.push(json!({"text": turn.text}));
    }
    if let Some(call) = &turn.call {
        parts.push(json!({"functionCall": {"name": call.name, "args": call.arguments}}));
    }
    let usage = exchange.step.usage;
    let candidate =
        json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0});
    let body = json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": "scripted",
    });
    if !exchange.is_streaming() {
        return answer.json(200, &body);
    }
    // An event of a Gemini stream has the form of a whole answer, so one event is enough.
    answer.begin_stream()?;
    answer.event(None, &body)
}
