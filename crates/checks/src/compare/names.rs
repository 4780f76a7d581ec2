//! What tests are called in lists.

use std::collections::BTreeMap;

use super::align::Test;

/// How tests are called: by name, and where one name stands in several places, by place too.
pub(super) struct Names(BTreeMap<String, usize>);

impl Names {
    pub(super) fn of(tests: &[Test<'_>]) -> Self {
        let mut counts = BTreeMap::new();
        for (name, _) in tests {
            *counts.entry((*name).to_owned()).or_insert(0) += 1;
        }
        Self(counts)
    }

    pub(super) fn label(&self, (name, found): Test<'_>) -> String {
        match &found.place {
            Some(place) if self.0.get(name).is_some_and(|count| *count > 1) => {
                format!("{name} ({place})")
            }
            _ => name.to_owned(),
        }
    }
}
