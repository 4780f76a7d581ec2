//! What trackers of issues write in their own way: beads (one object per line), exports of GitHub's
//! issues, Task Master's tags.

use crate::change::ChangeKind;
use crate::keys::{self, Fields};
use crate::node::{Entry, Map, Node, Value};
use crate::plan::{Known, issue_body, title_code};
use crate::read::Context;
use crate::read::fields::Wanted;
use crate::source::Span;
use crate::story::Criterion;

/// What stands on a line of beads that is no issue.
pub(crate) const NO_ISSUE: &str = "a line without id and title, a tombstone or an event";

/// Says whether a line of a beads file is an issue that counts: not one that was deleted, and no
/// event.
pub(crate) fn is_issue_line(map: &Map<'_>) -> bool {
    let fields = Fields::of(map);
    let word = |name: &str| fields.named(name).and_then(|entry| entry.value.as_word());
    let is =
        |name: &str, wanted: &str| word(name).is_some_and(|word| word.eq_ignore_ascii_case(wanted));
    let has_words = fields.first(keys::ID).is_some() && fields.first(keys::TITLE).is_some();
    has_words
        && !is("status", "tombstone")
        && !is("issuetype", "event")
        && (word("type").is_none() || !is("type", "event"))
}

/// Says whether all of some objects are issues of GitHub.
pub(crate) fn are_issues<'a, 's: 'a>(mut stories: impl Iterator<Item = &'a Map<'s>>) -> bool {
    stories.all(is_github_issue)
}

pub(crate) fn holds_issues(node: &Node<'_>) -> bool {
    let items = node.as_list().unwrap_or_default();
    !items.is_empty()
        && items
            .iter()
            .all(|item| item.as_map().is_some_and(is_github_issue))
}

fn is_github_issue(map: &Map<'_>) -> bool {
    let fields = Fields::of(map);
    let has = |name: &str| fields.named(name).is_some();
    let is_numbered = has("number")
        && [
            "labels",
            "state",
            "url",
            "htmlurl",
            "assignees",
            "milestone",
        ]
        .iter()
        .any(|name| has(name));
    // A story of a PRD has criteria or a flag; an issue has a body.
    let is_story =
        fields.first(&keys::CRITERIA[..4]).is_some() || fields.first(keys::FLAGS).is_some();
    has("title") && (has("body") || is_numbered) && !is_story
}

/// Says whether an object is a pull request, which GitHub lists among the issues.
pub(crate) fn is_pull_request(map: &Map<'_>) -> bool {
    let entry = Fields::of(map).named("pullrequest");
    entry.is_some_and(|entry| !matches!(entry.value.value, Value::Null))
}

/// The tag of Task Master that holds the tasks: `master`, or else the first with any. Other tags are
/// named as passed over.
pub(crate) fn tagged_tasks<'a, 's>(
    map: &'a Map<'s>,
    context: &mut Context<'_>,
) -> Option<(&'a Entry<'s>, &'a Map<'s>, &'a Entry<'s>)> {
    let tasks = |entry: &'a Entry<'s>| {
        let inner = entry.value.as_map()?;
        Some((entry, inner, Fields::of(inner).named("tasks")?))
    };
    let tags: Vec<_> = map.entries.iter().filter_map(tasks).collect();
    let all_tags = tags.len() == map.entries.len();
    let filled = || {
        tags.iter()
            .filter(|(_, _, list)| list.value.holds_objects())
    };
    let found = filled()
        .find(|(tag, _, _)| tag.key == "master")
        .or_else(|| filled().next().filter(|_| all_tags))?;
    for (tag, _, _) in filled().filter(|(tag, _, _)| tag.key_span != found.0.key_span) {
        context.changed(tag.key_span, ChangeKind::PassedOver("another tag"));
    }
    Some(*found)
}

/// The id of an issue of GitHub: its number, or a code at the beginning of its title.
pub(crate) fn github_id<'a>(map: &'a Map<'_>) -> Option<(&'a str, Span)> {
    let fields = Fields::of(map);
    if let Some(number) = fields.named("number") {
        return number.value.as_word().map(|word| (word, number.value.span));
    }
    let title = fields.named("title")?;
    let code = title_code(title.value.as_text()?)?;
    Some((code, title.value.span))
}

/// What the body of an issue says: its check boxes, and what it depends on.
pub(crate) fn github_body(map: &Map<'_>, known: &Known) -> (Vec<Criterion>, Vec<Wanted>) {
    let Some(entry) = Fields::of(map).named("body") else {
        return (Vec::new(), Vec::new());
    };
    let (criteria, needs) = issue_body(entry.value.as_text().unwrap_or_default(), known);
    let at = entry.value.span;
    let plain = |text| Criterion {
        text,
        command: None,
    };
    (
        criteria.into_iter().map(plain).collect(),
        needs.into_iter().map(|id| Wanted { id, at }).collect(),
    )
}

/// What an issue of beads is blocked by. Other kinds of dependencies (parents, relations, where an
/// issue was found) order nothing.
pub(crate) fn blockers(entry: &Entry<'_>, own: &str) -> Option<Vec<Wanted>> {
    let items = entry.value.as_list()?;
    let maps: Option<Vec<&Map<'_>>> = items.iter().map(Node::as_map).collect();
    let maps = maps.filter(|maps| !maps.is_empty())?;
    let blocker = |map: &&Map<'_>| {
        let fields = Fields::of(map);
        let named = |name: &str| {
            let entry = fields.named(name)?;
            let id = entry.value.as_word()?.to_owned();
            Some(Wanted {
                id,
                at: entry.value.span,
            })
        };
        let kind = fields
            .first(&["type", "dependencytype"])
            .and_then(|entry| entry.value.as_word());
        if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("blocks")) {
            return None;
        }
        // Some programs leave the blocker empty and write it into the field for the issue itself.
        named("dependsonid").or_else(|| named("issueid").filter(|wanted| wanted.id != own))
    };
    Some(maps.iter().filter_map(blocker).collect())
}

/// A task's description with the details and the test strategy that Task Master keeps beside it.
pub(crate) fn task_details(map: &Map<'_>) -> (Vec<Span>, String) {
    let fields = Fields::of(map);
    let mut used = Vec::new();
    let mut parts = Vec::new();
    for (name, before) in [
        ("description", ""),
        ("details", ""),
        ("teststrategy", "Test strategy: "),
    ] {
        let Some(entry) = fields.named(name) else {
            continue;
        };
        let Some(text) = entry.value.as_text().map(str::trim) else {
            continue;
        };
        used.push(entry.key_span);
        if !text.is_empty() {
            parts.push(format!("{before}{text}"));
        }
    }
    (used, parts.join("\n\n"))
}
