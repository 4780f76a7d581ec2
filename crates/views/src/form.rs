//! The form of what programs read: keys in one case, moments as ISO 8601 writes them, and no JSON
//! inside of strings. Durations stay numbers of milliseconds.
//!
//! Public events are a contract of their own and do not come through here.

use serde::Serializer;
use serde_json::{Map, Value};

use crate::moment::iso;

/// Objects whose keys are names of somebody else's, so that they stay as they are: of agents, of
/// files, of variables, of what was measured.
const FREE_KEYS: [&str; 6] = ["agents", "env", "families", "files", "prompts", "tookMs"];

/// Fields of the journal that hold a whole JSON text.
const TEXTS_OF_JSON: [&str; 2] = ["evidence", "settings"];

/// A value of the journal in the form that programs read.
pub fn public_form(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(member)
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(public_form).collect(),
        plain => plain,
    }
}

fn member((key, value): (String, Value)) -> (String, Value) {
    let key = camel_case(&key);
    if let (Some(key), Some(at_ms)) = (key_of_moment(&key), value.as_i64()) {
        return (key, iso(at_ms).into());
    }
    if let (Some(key), true) = (key_of_moment(&key), value.is_null()) {
        return (key, value);
    }
    let value = match value {
        Value::Object(members) if FREE_KEYS.contains(&key.as_str()) => {
            let members = members.into_iter();
            let kept = members.map(|(name, value)| (name, public_form(value)));
            kept.collect::<Map<_, _>>().into()
        }
        Value::String(text) if TEXTS_OF_JSON.contains(&key.as_str()) => unpacked(text),
        other => public_form(other),
    };
    (key, value)
}

/// The object that a text holds; words of people stay words.
fn unpacked(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(object @ Value::Object(_)) => public_form(object),
        _ => text.into(),
    }
}

/// `started_at_ms` and `startedAtMs` name a moment, whose key is `startedAt`; `took_ms` a duration.
fn key_of_moment(key: &str) -> Option<String> {
    let bare = key.strip_suffix("Ms")?;
    let is_moment =
        ["at", "until"].contains(&bare) || ["At", "Until"].iter().any(|end| bare.ends_with(end));
    is_moment.then(|| bare.to_owned())
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name + letters.as_str()
    })
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
pub(crate) fn moment<S: Serializer>(at_ms: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*at_ms))
}

#[expect(clippy::ref_option, reason = "the form that serde asks for")]
pub(crate) fn moment_or_null<S: Serializer>(
    at_ms: &Option<i64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at_ms {
        Some(at_ms) => moment(at_ms, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_told_to_programs_as() {
        for (value, expected) in [
            (
                json!({ "pass_to_pass": [{ "n_left": 1 }] }),
                json!({ "passToPass": [{ "nLeft": 1 }] }),
            ),
            (
                json!({ "started_at_ms": 0, "endedAtMs": null, "until_ms": 1000, "tookMs": 5 }),
                json!({ "startedAt": "1970-01-01T00:00:00.000Z", "endedAt": null,
                        "until": "1970-01-01T00:00:01.000Z", "tookMs": 5 }),
            ),
            (
                json!({ "took_ms": { "base with tests": 5 }, "env": { "MY_KEY": "x_y" } }),
                json!({ "tookMs": { "base with tests": 5 }, "env": { "MY_KEY": "x_y" } }),
            ),
            (
                json!({ "evidence": "{\"new_failing\":[]}", "more": { "evidence": "{seen}" } }),
                json!({ "evidence": { "newFailing": [] }, "more": { "evidence": "{seen}" } }),
            ),
            (json!(["a_b", 1, null]), json!(["a_b", 1, null])),
        ] {
            assert_eq!(public_form(value.clone()), expected, "{value}");
        }
    }
}
