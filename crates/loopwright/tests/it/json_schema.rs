//! As much of JSON Schema as our schemas use. A keyword that is not known here stops the test, so that
//! nothing is believed to be checked that is not.

use serde_json::{Map, Value};

/// Everything in a value that the schema does not allow, each with its place.
pub(crate) fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    check(root, schema, value, "", &mut found);
    found.is_empty()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else {
        if *schema == Value::Bool(false) {
            found.push(format!("{at}: nobody knows it"));
        }
        return;
    };
    for (keyword, rule) in rules {
        let is_well = match keyword.as_str() {
            // The last three are looked at together with what is next to them.
            "$schema"
            | "$defs"
            | "title"
            | "description"
            | "then"
            | "properties"
            | "additionalProperties" => true,
            "$ref" => {
                let path = rule.as_str().expect("a path").trim_start_matches('#');
                let target = root.pointer(path);
                let target = target.unwrap_or_else(|| panic!("no {path}"));
                check(root, target, value, at, found);
                true
            }
            "type" => of_type(rule, value),
            "const" => rule == value,
            "enum" => rule.as_array().expect("a list").contains(value),
            "minimum" => value.as_f64() >= rule.as_f64() || !value.is_number(),
            "pattern" => value
                .as_str()
                .is_none_or(|text| matches_pattern(rule.as_str().expect("a pattern"), text)),
            "required" => {
                for key in rule.as_array().expect("a list") {
                    let key = key.as_str().expect("a key");
                    if value.is_object() && value.get(key).is_none() {
                        found.push(format!("{at}: it has no `{key}`"));
                    }
                }
                true
            }
            "propertyNames" => {
                for key in value.as_object().into_iter().flat_map(Map::keys) {
                    let name = Value::from(key.as_str());
                    check(root, rule, &name, &format!("{at}/{key} (its name)"), found);
                }
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{index}"), found);
                }
                true
            }
            "allOf" => {
                for each in rule.as_array().expect("a list") {
                    check(root, each, value, at, found);
                }
                true
            }
            "anyOf" => any_of(root, rule, value, at, found),
            "if" => {
                if fits(root, rule, value) {
                    check(root, &rules["then"], value, at, found);
                }
                true
            }
            unknown => panic!("the schema uses `{unknown}`, which is not known here"),
        };
        if !is_well {
            found.push(format!("{at}: {value} does not fit {keyword} {rule}"));
        }
    }
    properties(root, rules, value, at, found);
}

/// Complains about the alternative that is of the value's type, which is the one that was meant.
fn any_of(root: &Value, rule: &Value, value: &Value, at: &str, found: &mut Vec<String>) -> bool {
    let all = rule.as_array().expect("a list");
    if all.iter().any(|each| fits(root, each, value)) {
        return true;
    }
    let meant = all
        .iter()
        .find(|each| each.get("type").is_some_and(|kind| of_type(kind, value)));
    match meant {
        Some(meant) => {
            check(root, meant, value, at, found);
            true
        }
        None => false,
    }
}

fn properties(
    root: &Value,
    rules: &Map<String, Value>,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) {
    let known = rules.get("properties").and_then(Value::as_object);
    for (key, member) in value.as_object().into_iter().flatten() {
        let rule = known
            .and_then(|known| known.get(key))
            .or_else(|| rules.get("additionalProperties"));
        if let Some(rule) = rule {
            check(root, rule, member, &format!("{at}/{key}"), found);
        }
    }
}

fn of_type(rule: &Value, value: &Value) -> bool {
    let is = |word: &Value| match word.as_str().expect("a word") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        unknown => panic!("there is no type `{unknown}`"),
    };
    match rule {
        Value::Array(words) => words.iter().any(is),
        word => is(word),
    }
}

/// The patterns that our schemas have.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match pattern {
        "^[a-z][a-zA-Z0-9]*$" => {
            text.starts_with(|first: char| first.is_ascii_lowercase())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        }
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$" => {
            let form: String = text
                .chars()
                .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
                .collect();
            form == "0000-00-00T00:00:00.000Z"
        }
        "^[0-9a-f]{40,64}$" => {
            (40..=64).contains(&text.len())
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }
        "^[0-9]+[smh]?$" => digits(text.strip_suffix(['s', 'm', 'h']).unwrap_or(text)),
        "^agent/[a-z_.]+$" => text.strip_prefix("agent/").is_some_and(|name| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || b"_.".contains(&byte))
        }),
        unknown => panic!("the pattern {unknown} is not known here"),
    }
}

#[test]
fn what_does_not_fit_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "a": { "type": "integer", "minimum": 1 }, "b": { "$ref": "#/$defs/word" } },
        "required": ["a"],
        "additionalProperties": false,
        "if": { "properties": { "a": { "const": 7 } } },
        "then": { "required": ["b"] },
        "$defs": { "word": { "anyOf": [{ "enum": ["x"] }, { "type": "array", "items": { "type": "null" } }] } },
    });
    for (value, n_complaints) in [
        (serde_json::json!({ "a": 1 }), 0),
        (serde_json::json!({ "a": 1, "b": [null] }), 0),
        (serde_json::json!({ "a": 7, "b": "x" }), 0),
        (serde_json::json!({ "a": 7 }), 1),
        (serde_json::json!({ "a": 0, "c": 1 }), 2),
        (serde_json::json!({ "b": "y" }), 2),
        (serde_json::json!({ "a": 1, "b": [1, 2] }), 2),
        (serde_json::json!([]), 1),
    ] {
        let found = complaints(&schema, &value);
        assert_eq!(found.len(), n_complaints, "{value}: {found:?}");
    }
}
