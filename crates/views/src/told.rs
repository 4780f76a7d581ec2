//! A public event before it is numbered.

use serde_json::Value;

/// What a record tells, before it is numbered.
pub(crate) struct Told {
    pub(crate) name: &'static str,
    pub(crate) data: Value,
}

pub(crate) fn one(name: &'static str, data: Value) -> Vec<Told> {
    vec![Told { name, data }]
}
