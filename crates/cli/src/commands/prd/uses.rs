//! Where a loop takes each field of a PRD: the table for people. `docs/prd.md` has it too.

use prd::{Extra, Prd};

/// A field of the canonical form, and what a loop does with it.
pub(crate) struct Use {
    /// The key, as the canonical form has it.
    pub(crate) field: &'static str,
    /// What becomes of it.
    pub(crate) goes: &'static str,
}

/// The fields of the whole.
pub(crate) const OF_DOCUMENT: [Use; 7] = [
    row("title", "every prompt"),
    row("description", "every prompt"),
    row("notes", "every prompt"),
    row(
        "branch",
        "the name of the loop's branch; said at `start` if it cannot be that",
    ),
    row(
        "checks",
        "checks, where `[checks]` names none of that kind; sentences go into every prompt",
    ),
    row("stories", "the loop's stories"),
    row("outside", "no loop waits for these ids"),
];

/// The fields of a story.
pub(crate) const OF_STORY: [Use; 15] = [
    row("id", "every prompt, commits and events"),
    row("title", "every prompt and the commit's subject"),
    row("description", "every prompt"),
    row(
        "acceptance_criteria",
        "every prompt and the verdict; a criterion's command goes into every prompt",
    ),
    row("priority", "the order of stories"),
    row("passes", "passed stories are not run again"),
    row(
        "depends_on",
        "the order of stories; a name without a story is refused",
    ),
    row("skipped", "skipped stories are not run"),
    row("status", "only open stories are run"),
    row("tool", "the agent of the first attempt"),
    row(
        "model",
        "the implementor's model; said at `start` if the agent does not have it",
    ),
    row(
        "files",
        "every prompt, with excerpts of the files; the loop's plan",
    ),
    row(
        "checks",
        "every prompt of the story; said at `start` that they are not run as checks",
    ),
    row("notes", "every prompt"),
    row("group", "every prompt"),
];

const fn row(field: &'static str, goes: &'static str) -> Use {
    Use { field, goes }
}

/// Keys that are kept as they are and that no loop uses.
pub(crate) fn unused(prd: &Prd) -> Vec<String> {
    let is_used = |key: &str| key == "flow";
    let says_something = |value: &Extra| !matches!(value, Extra::Null);
    let mut keys: Vec<String> = Vec::new();
    let of_stories = prd.stories.iter().flat_map(|story| &story.extra);
    for (key, value) in prd.extra.iter().chain(of_stories) {
        if !is_used(key) && says_something(value) && !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn keys_of(schema: &serde_json::Value) -> BTreeSet<String> {
        let properties = schema["properties"].as_object().expect("properties");
        properties.keys().cloned().collect()
    }

    #[test]
    fn every_field_of_the_canonical_form_has_a_use() {
        let schema: serde_json::Value = serde_json::from_str(prd::SCHEMA).expect("JSON");
        for (keys, rows) in [
            (keys_of(&schema), &OF_DOCUMENT[..]),
            (keys_of(&schema["$defs"]["story"]), &OF_STORY[..]),
        ] {
            let used: BTreeSet<String> = rows.iter().map(|row| row.field.to_owned()).collect();
            assert_eq!(keys, used);
        }
    }

    #[test]
    fn every_use_is_in_the_documentation() {
        let page = include_str!("../../../docs/prd.md");
        for row in OF_DOCUMENT.iter().chain(&OF_STORY) {
            let line = format!("| {} | {} |", row.field, row.goes);
            assert!(page.contains(&line), "docs/prd.md lacks: {line}");
        }
    }
}
