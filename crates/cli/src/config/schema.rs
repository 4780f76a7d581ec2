//! The JSON Schema of `loopwright.toml`, made from the list of keys, so that no key can be missing
//! from it.

use serde_json::{Map, Value, json};

use super::keys::{KEYS, Kind};

/// The schema of the whole file.
pub(crate) fn schema() -> Value {
    let about = "The configuration of Loopwright, of a project or of a person; `loopwright explain config` explains every key.";
    let head = [
        ("$schema", super::SCHEMA_DIALECT),
        ("title", "loopwright.toml"),
        ("description", about),
    ];
    let head = head.map(|(name, text)| (name.to_owned(), text.into()));
    let mut root: Map<String, Value> = head.into_iter().chain(table()).collect();
    for key in KEYS {
        let path: Vec<&str> = key.path.split('.').collect();
        put(&mut root, &path, of_kind(key.kind));
    }
    Value::Object(root)
}

/// A table that knows no keys yet, and takes none that it does not know.
fn table() -> Map<String, Value> {
    let fields = [
        ("type", json!("object")),
        ("properties", json!({})),
        ("additionalProperties", json!(false)),
    ];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Puts a key into its table, and makes the tables on the way there. `*` stands for any name.
fn put(table_of: &mut Map<String, Value>, path: &[&str], leaf: Value) {
    let Some((name, below)) = path.split_first() else {
        return;
    };
    let place = if *name == "*" {
        let place = &mut table_of["additionalProperties"];
        if !place.is_object() {
            *place = if below.is_empty() {
                Value::Null
            } else {
                table().into()
            };
        }
        place
    } else {
        let properties = table_of["properties"].as_object_mut();
        let Some(properties) = properties else {
            unreachable!("every table is made with its properties");
        };
        let empty = || Value::Object(table());
        properties.entry(*name).or_insert_with(empty)
    };
    match place.as_object_mut() {
        Some(next) if !below.is_empty() => put(next, below, leaf),
        _ => *place = leaf,
    }
}

/// What a value must look like in a file.
fn of_kind(kind: Kind) -> Value {
    match kind {
        Kind::Text | Kind::Subject => json!({ "type": "string" }),
        Kind::Author => json!({
            "description": "operator, loopwright or Name <mail>",
            "type": "string",
        }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Count(least) => json!({ "type": "integer", "minimum": least }),
        Kind::Number => json!({ "type": "number", "minimum": 0 }),
        Kind::Truth => json!({ "type": "boolean" }),
        Kind::Words | Kind::Globs => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Seconds => json!({
            "description": "seconds, or a text such as 90s, 15m or 2h",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": "^[0-9]+[smh]?$" },
            ],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_the_schema() {
        let schema = schema();
        for key in KEYS {
            let below = |at: &Value, name: &str| match name {
                "*" => at["additionalProperties"].clone(),
                name => at["properties"][name].clone(),
            };
            let found = key
                .path
                .split('.')
                .fold(schema.clone(), |at, name| below(&at, name));
            assert_eq!(found, of_kind(key.kind), "{}", key.path);
        }
    }
}
