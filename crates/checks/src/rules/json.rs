//! A JSON object that keeps the order and the text of what it does not change: in `package.json`
//! order has a meaning.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object's members in their order, each value as it was written.
#[derive(Debug, Default)]
pub(super) struct Object(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Object {
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value's text; of a name that stands twice the last counts, as everywhere.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.get())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Sets a value, or takes the member out.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) {
        let value = value.and_then(|text| RawValue::from_string(text.to_owned()).ok());
        let at = self.0.iter().position(|(key, _)| key == name);
        self.0.retain({
            let mut is_first = value.is_some();
            move |(key, _)| key != name || std::mem::take(&mut is_first)
        });
        match (at, value) {
            (Some(at), Some(value)) => self.0[at].1 = value,
            (None, Some(value)) => self.0.push((name.to_owned(), value)),
            (_, None) => {}
        }
    }

    pub(super) fn text(&self) -> String {
        let members: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| {
                format!(
                    "  {}: {}",
                    serde_json::Value::from(name.as_str()),
                    value.get()
                )
            })
            .collect();
        if members.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{\n{}\n}}", members.join(",\n"))
        }
    }
}

/// Says whether two texts hold the same value.
pub(super) fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other
        || (one.is_some() == other.is_some() && one.and_then(value) == other.and_then(value))
}
