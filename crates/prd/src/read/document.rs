//! Reads what the document says besides its stories: title, branch, checks, groups, and unknown
//! keys, which are kept as they are.

use crate::change::ChangeKind;
use crate::keys::{self, Fields};
use crate::node::{Entry, Map, Value};
use crate::read::Context;
use crate::read::fields;
use crate::read::locate::Layout;
use crate::source::Span;
use crate::story::{Check, Group, Prd, Story};

/// Builds the PRD, or `None` if no story was usable.
pub(crate) fn read(
    layout: &Layout<'_, '_>,
    (stories, outside): (Vec<Story>, Vec<String>),
    context: &mut Context<'_>,
) -> Option<Prd> {
    if stories.is_empty() {
        return None;
    }
    let groups = read_groups(layout);
    let Some(map) = layout.root else {
        return Some(Prd {
            stories,
            groups,
            outside,
            ..Prd::default()
        });
    };
    let fields = Fields::of(map);
    let mut used: Vec<Span> = layout
        .container
        .iter()
        .chain(&layout.edges)
        .chain(
            &fields
                .named("outside")
                .filter(|entry| outside_of(entry).is_some()),
        )
        .map(|entry| entry.key_span)
        .collect();
    let mut text = |names: &[&str], canonical: &'static str, context: &mut Context<'_>| {
        let entry = fields.all(names).find(|entry| {
            entry
                .value
                .as_text()
                .is_some_and(|text| !text.trim().is_empty())
        })?;
        used.push(entry.key_span);
        if entry.key != canonical {
            context.changed(entry.key_span, ChangeKind::Key(canonical));
        }
        entry.value.as_text().map(|text| text.trim().to_owned())
    };
    let title = text(keys::DOCUMENT_TITLE, "title", context).or_else(|| inner_title(&fields));
    let description = text(keys::DOCUMENT_DESCRIPTION, "description", context);
    let branch = text(keys::BRANCH, "branch", context);
    let checks = read_checks(map, &mut used, context);
    let notes = read_notes(&fields, &mut used, context);
    let mut extra = fields::extras(map, &used);
    // Keys around the wrapper are kept beside those inside it, under a prefixed name if one is
    // taken.
    if let Some((outer, wrapper)) = layout.outer {
        for (mut key, value) in fields::extras(outer, &[wrapper.key_span]) {
            while extra.iter().any(|(taken, _)| *taken == key) {
                key.insert_str(0, "x-");
            }
            extra.push((key, value));
        }
    }
    Some(Prd {
        title,
        description,
        notes,
        branch,
        checks,
        stories,
        groups,
        outside,
        extra,
    })
}

/// The ids that a document says to be outside of it: a list of texts under `outside`.
pub(crate) fn declared_outside(layout: &Layout<'_, '_>) -> Vec<String> {
    let entry = layout.root.and_then(|map| Fields::of(map).named("outside"));
    entry.and_then(outside_of).unwrap_or_default()
}

fn outside_of(entry: &Entry<'_>) -> Option<Vec<String>> {
    let items = entry.value.as_list()?.iter();
    items
        .map(|item| item.as_text().map(str::to_owned))
        .collect()
}

/// The title inside an object, as in `"project": {"name": "…"}`. The object itself is kept as it
/// is.
fn inner_title(fields: &Fields<'_, '_>) -> Option<String> {
    let maps = fields
        .all(keys::DOCUMENT_TITLE)
        .chain(fields.all(&["meta", "metadata"]))
        .filter_map(|entry| entry.value.as_map());
    let name = |map: &Map<'_>| {
        let fields = Fields::of(map);
        fields
            .all(&["title", "name", "project"])
            .filter_map(|entry| entry.value.as_text().map(str::trim))
            .find(|name| !name.is_empty())
            .map(str::to_owned)
    };
    maps.into_iter().find_map(name)
}

fn read_notes(
    fields: &Fields<'_, '_>,
    used: &mut Vec<Span>,
    context: &mut Context<'_>,
) -> Option<String> {
    let entry = fields.first(keys::NOTES)?;
    let notes = fields::notes(&entry.value, context)?;
    used.push(entry.key_span);
    if notes.is_empty() {
        return None;
    }
    if entry.key != "notes" {
        context.changed(entry.key_span, ChangeKind::Key("notes"));
    }
    Some(notes)
}

fn read_checks(map: &Map<'_>, used: &mut Vec<Span>, context: &mut Context<'_>) -> Vec<Check> {
    let fields = Fields::of(map);
    let mut all = Vec::new();
    for (key, name) in keys::CHECKS {
        if let Some((entry, checks)) = check_entry(&fields, key, *name) {
            used.push(entry.key_span);
            if entry.key != "checks" {
                context.changed(entry.key_span, ChangeKind::Key("checks"));
            }
            all.extend(checks);
        }
    }
    // The commands inside `context` and the like are read too, but the object is also kept as it
    // is.
    for holder in fields
        .all(keys::CHECK_HOLDERS)
        .filter_map(|entry| entry.value.as_map())
    {
        let inner = Fields::of(holder);
        for (key, name) in keys::CHECKS {
            if let Some((entry, checks)) = check_entry(&inner, key, *name) {
                context.changed(entry.key_span, ChangeKind::Key("checks"));
                all.extend(checks);
            }
        }
    }
    // The same command may be given in both places.
    let mut seen = std::collections::HashSet::new();
    all.retain(|check| seen.insert((check.name.clone(), check.text.clone())));
    all
}

fn check_entry<'a, 's>(
    fields: &Fields<'a, 's>,
    key: &str,
    name: Option<&str>,
) -> Option<(&'a Entry<'s>, Vec<Check>)> {
    let entry = fields.named(key)?;
    Some((entry, fields::checks(&entry.value, name)?))
}

/// The name of each group: its id, its name or its position.
pub(crate) fn group_names(layout: &Layout<'_, '_>) -> Vec<String> {
    layout
        .groups
        .iter()
        .zip(1..)
        .map(|(group, number)| group_name(group.map).unwrap_or_else(|| format!("group-{number}")))
        .collect()
}

fn group_name(map: &Map<'_>) -> Option<String> {
    Fields::of(map)
        .all(&["id", "name", "title", "phase", "epic", "milestone"])
        .find_map(|entry| match &entry.value.value {
            Value::Text(_) | Value::Number(_) => entry.value.as_word().map(str::to_owned),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        })
}

fn read_groups(layout: &Layout<'_, '_>) -> Vec<Group> {
    let extra = layout
        .groups
        .iter()
        .map(|group| fields::extras(group.map, &[group.held_in.key_span]));
    group_names(layout)
        .into_iter()
        .zip(extra)
        .map(|(name, extra)| Group { name, extra })
        .collect()
}
