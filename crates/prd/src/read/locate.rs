//! Finds the stories in a parsed document, wherever its author put them.
//!
//! It decides where the stories are, not what they mean. It reports everything that it skips.

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, shown};
use crate::keys::{self, Fields, Squashed};
use crate::limits::{SPLIT, STORIES_MAX, grouped};
use crate::node::{Entry, Map, Node, Value};
use crate::parse::front_matter::Body;
use crate::read::{Context, Document, Format, tracker};
use crate::source::Span;

/// Where the parts of a document are.
pub(crate) struct Layout<'a, 's> {
    pub(crate) stories: Vec<Found<'a, 's>>,
    pub(crate) groups: Vec<FoundGroup<'a, 's>>,
    /// The object that holds the list of stories, if there is one.
    pub(crate) root: Option<&'a Map<'s>>,
    /// The object around `root`, and its entry that holds `root`.
    pub(crate) outer: Option<(&'a Map<'s>, &'a Entry<'s>)>,
    /// The entry of `root` that holds the stories; for a task graph, `nodes`.
    pub(crate) container: Option<&'a Entry<'s>>,
    /// The edges of a task graph.
    pub(crate) edges: Option<&'a Entry<'s>>,
    pub(crate) style: Style,
}

/// The program that keeps the stories, where it has rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    /// A PRD, by whomever.
    #[default]
    Plain,
    /// Issues of beads, one per line.
    Beads,
    /// Issues of GitHub, exported.
    GitHub,
    /// Tasks of Task Master, under a tag.
    TaskMaster,
    /// A task graph: nodes, and mostly edges.
    TaskGraph,
    /// Tickets, each a file of its own.
    Tickets,
}

impl Style {
    /// Says whether the stories come from a tracker of issues, where a blocker may be elsewhere and
    /// few issues have criteria.
    pub(crate) fn is_tracker(self) -> bool {
        !matches!(self, Self::Plain | Self::TaskGraph | Self::Tickets)
    }
}

/// One story that was found.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a, 's> {
    pub(crate) node: &'a Node<'s>,
    pub(crate) map: &'a Map<'s>,
    /// The entry that holds it, if the stories are an object with ids as keys.
    pub(crate) key: Option<&'a Entry<'s>>,
    /// Index in the layout's groups.
    pub(crate) group: Option<usize>,
    pub(crate) body: Option<&'a Body<'s>>,
    /// The ticket's own file.
    pub(crate) ticket: Option<u32>,
}

impl<'a, 's> Found<'a, 's> {
    /// A story that is an object in a list.
    fn plain(node: &'a Node<'s>, map: &'a Map<'s>) -> Self {
        Self {
            node,
            map,
            key: None,
            group: None,
            body: None,
            ticket: None,
        }
    }
}

pub(crate) struct FoundGroup<'a, 's> {
    pub(crate) map: &'a Map<'s>,
    /// The entry that holds its stories.
    pub(crate) held_in: &'a Entry<'s>,
}

/// Finds all stories. If there are none or too many, reports that and returns `None`.
pub(crate) fn locate<'a, 's>(
    documents: &'a [Document<'s>],
    format: Format,
    context: &mut Context<'_>,
) -> Option<Layout<'a, 's>> {
    let mut layout = Layout {
        stories: Vec::new(),
        groups: Vec::new(),
        root: None,
        outer: None,
        container: None,
        edges: None,
        style: Style::Plain,
    };
    match documents {
        [] => {
            // A syntax error already explains why there is no document.
            if !context.complaints.has_error() {
                let help = match format {
                    Format::Tickets => {
                        "no file is a ticket: each begins with `---`, then YAML, then `---`"
                    }
                    Format::JsonLines => "it is empty: `issues.jsonl` holds one issue per line",
                    Format::Json | Format::Yaml | Format::Markdown => {
                        "it holds nothing to read: a PRD is an object with `stories`"
                    }
                };
                let help = help.to_owned();
                context
                    .complaints
                    .push(Diagnostic::no_stories(None, "", help));
            }
            return None;
        }
        [only] if format == Format::JsonLines => take_lines(only, &mut layout, context),
        // Only tickets have a body, so this is a file of its own.
        [only] if only.body.is_none() => locate_in_document(only, &mut layout, context),
        tickets => {
            layout.style = Style::Tickets;
            for ticket in tickets {
                take_ticket(ticket, &mut layout, context);
            }
        }
    }
    let maps = || layout.stories.iter().map(|found| found.map);
    let may_be = !layout.style.is_tracker() && format == Format::Json;
    if may_be && !layout.stories.is_empty() && tracker::are_issues(maps()) {
        take_only_issues(&mut layout, context);
    }
    if layout.stories.len() > STORIES_MAX {
        let at = layout.stories[STORIES_MAX].node.span;
        let what = "too many stories in one PRD";
        context.complaints.push(Diagnostic::limit_exceeded(
            what,
            &grouped(STORIES_MAX),
            Some(at),
            SPLIT,
        ));
        return None;
    }
    if layout.stories.is_empty() {
        if !context.complaints.has_error() {
            context
                .complaints
                .push(nothing_found(&layout, &documents[0].root));
        }
        return None;
    }
    Some(layout)
}

/// Takes stories as issues of GitHub, without pull requests.
fn take_only_issues(layout: &mut Layout<'_, '_>, context: &mut Context<'_>) {
    layout.style = Style::GitHub;
    layout.stories.retain(|found| {
        let is_pull = tracker::is_pull_request(found.map);
        if is_pull {
            context.changed(found.node.span, ChangeKind::PassedOver("a pull request"));
        }
        !is_pull
    });
}

/// Takes the issues of a file with one object per line.
fn take_lines<'a, 's>(
    document: &'a Document<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    layout.style = Style::Beads;
    for node in document.root.as_list().unwrap_or_default() {
        match node.as_map() {
            Some(map) if tracker::is_issue_line(map) => {
                layout.stories.push(Found::plain(node, map));
            }
            Some(_) => context.changed(node.span, ChangeKind::PassedOver(tracker::NO_ISSUE)),
            None => {
                let found = Diagnostic::not_a_story(node.kind(), node.span);
                context.complaints.push(found);
            }
        }
    }
}

fn take_ticket<'a, 's>(
    document: &'a Document<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    let node = &document.root;
    match node.as_map() {
        Some(map) => {
            layout.stories.push(Found {
                body: document.body.as_ref(),
                ticket: Some(document.file),
                ..Found::plain(node, map)
            });
        }
        None => context
            .complaints
            .push(Diagnostic::not_a_story(node.kind(), node.span)),
    }
}

/// Looks in the likeliest places first: a bare list, a task graph, a known container, a known
/// wrapper around one, and last any object with a list that can only mean stories.
fn locate_in_document<'a, 's>(
    document: &'a Document<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    let root = &document.root;
    let Some(map) = root.as_map() else {
        if let Some(items) = root.as_list() {
            take_items(
                items.iter().map(|node| (None, node)),
                Place::default(),
                layout,
                context,
            );
        }
        return;
    };
    let fields = Fields::of(map);
    layout.root = Some(map);
    if let Some(nodes) = nodes_of(map) {
        layout.container = Some(nodes);
        layout.edges = fields.named("edges");
        layout.style = Style::TaskGraph;
        return take_container(nodes, layout, context);
    }
    if let Some(container) = container_of(map) {
        return take_from(map, container, layout, context);
    }
    for wrapper in fields.all(keys::WRAPPERS) {
        let Some(inner) = wrapper.value.as_map() else {
            // `"data": [{…}]`: the wrapper is itself the list of stories.
            if wrapper.value.holds_objects() {
                return take_from(map, wrapper, layout, context);
            }
            continue;
        };
        if let Some(container) = container_of(inner) {
            context.changed(wrapper.key_span, ChangeKind::Wrapper);
            layout.outer = Some((map, wrapper));
            return take_from(inner, container, layout, context);
        }
    }
    if let Some(issues) = fields
        .named("issues")
        .filter(|entry| tracker::holds_issues(&entry.value))
    {
        return take_from(map, issues, layout, context);
    }
    if let Some((tag, inner, container)) = tracker::tagged_tasks(map, context) {
        context.changed(tag.key_span, ChangeKind::Wrapper);
        layout.style = Style::TaskMaster;
        layout.outer = Some((map, tag));
        return take_from(inner, container, layout, context);
    }
    // Under any other key, accept only a list that cannot mean anything else.
    for wrapper in &map.entries {
        let Some(inner) = wrapper.value.as_map() else {
            continue;
        };
        let certain = Fields::of(inner)
            .all(keys::CERTAIN_CONTAINERS)
            .find(|entry| entry.value.holds_objects());
        if let Some(container) = certain {
            context.changed(wrapper.key_span, ChangeKind::Wrapper);
            layout.outer = Some((map, wrapper));
            return take_from(inner, container, layout, context);
        }
    }
}

/// The nodes of a task graph. With `edges` beside them they can be nothing else. Without edges the
/// word is common, so that nodes must look like tasks: one of them says what it waits for or how far
/// it is, or, where nothing else could be the stories, each has a title.
fn nodes_of<'a, 's>(map: &'a Map<'s>) -> Option<&'a Entry<'s>> {
    let fields = Fields::of(map);
    let nodes = fields
        .named("nodes")
        .filter(|nodes| nodes.value.holds_objects())?;
    let has = |node: &Node<'_>, names: &[&str]| {
        let map = node.as_map();
        map.is_some_and(|map| Fields::of(map).first(names).is_some())
    };
    let is_task = |node: &Node<'_>| {
        let names = [keys::STATUS, keys::FLAGS, keys::DEPENDS_ON];
        names.iter().any(|names| has(node, names))
    };
    let is_graph = fields.named("edges").is_some()
        || members(&nodes.value).any(|(_, node)| is_task(node))
        || (container_of(map).is_none()
            && members(&nodes.value).all(|(_, node)| has(node, keys::TITLE)));
    is_graph.then_some(nodes)
}

/// The entry that holds the stories: the first container with objects that is not a group, then the
/// first with groups that hold stories, then any. A file may list its milestones beside its tasks.
fn container_of<'a, 's>(map: &'a Map<'s>) -> Option<&'a Entry<'s>> {
    let fields = Fields::of(map);
    let holders = || {
        fields
            .all(keys::CONTAINERS)
            .filter(|entry| entry.value.holds_objects())
    };
    // Features are groups in some files and stories in others, so they count as both.
    let is_group =
        |entry: &Entry<'_>| names(keys::GROUPS, &entry.key) && !names(&["features"], &entry.key);
    let nests = |entry: &&Entry<'s>| {
        members(&entry.value)
            .any(|(_, node)| node.as_map().is_some_and(|map| group_list(map).is_some()))
    };
    holders()
        .find(|entry| !is_group(entry))
        .or_else(|| holders().find(nests))
        .or_else(|| holders().next())
}

/// Says whether a key, in any spelling, is in a list of names.
fn names(list: &[&str], key: &str) -> bool {
    let key = Squashed::new(key);
    list.iter().any(|name| key.is(name))
}

fn take_from<'a, 's>(
    root: &'a Map<'s>,
    container: &'a Entry<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    layout.root = Some(root);
    layout.container = Some(container);
    if container.key != "stories" {
        context.changed(container.key_span, ChangeKind::Key("stories"));
    }
    take_container(container, layout, context);
}

fn take_container<'a, 's>(
    container: &'a Entry<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    let before = layout.groups.len();
    let groups_in = names(keys::GROUPS, &container.key).then_some(container);
    take_items(
        members(&container.value),
        Place {
            groups_in,
            group: None,
        },
        layout,
        context,
    );
    if layout.groups.len() > before {
        context.changed(container.key_span, ChangeKind::Ungrouped);
    }
}

/// The surroundings of some items: their group, and the container if its members may be groups.
#[derive(Default, Clone, Copy)]
struct Place<'a, 's> {
    groups_in: Option<&'a Entry<'s>>,
    group: Option<usize>,
}

/// Takes each object as a story or, in a list of groups, the stories inside the group. The
/// recursion is bounded by the parser's depth limit.
fn take_items<'a, 's: 'a>(
    items: impl Iterator<Item = (Option<&'a Entry<'s>>, &'a Node<'s>)>,
    place: Place<'a, 's>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    for (key, node) in items {
        let Some(map) = node.as_map() else {
            context
                .complaints
                .push(Diagnostic::not_a_story(node.kind(), node.span));
            continue;
        };
        match place
            .groups_in
            .and_then(|container| held_list(container, map))
        {
            Some(held_in) => take_group(map, held_in, layout, context),
            None => {
                layout.stories.push(Found {
                    key,
                    group: place.group,
                    ..Found::plain(node, map)
                });
            }
        }
    }
}

fn take_group<'a, 's>(
    map: &'a Map<'s>,
    held_in: &'a Entry<'s>,
    layout: &mut Layout<'a, 's>,
    context: &mut Context<'_>,
) {
    let group = Some(layout.groups.len());
    layout.groups.push(FoundGroup { map, held_in });
    let groups_in = names(keys::GROUPS, &held_in.key).then_some(held_in);
    take_items(
        members(&held_in.value),
        Place { groups_in, group },
        layout,
        context,
    );
}

/// The entry with the stories of a group. A feature with criteria of its own is a story, whatever
/// else it holds.
fn held_list<'a, 's>(container: &Entry<'_>, map: &'a Map<'s>) -> Option<&'a Entry<'s>> {
    let is_feature = names(&["features"], &container.key);
    // Only the two certain names count: `steps` or `tasks` of a feature may be its stories.
    let has_criteria = || Fields::of(map).all(&keys::CRITERIA[..2]).next().is_some();
    if is_feature && has_criteria() {
        None
    } else {
        group_list(map)
    }
}

/// The entry of a group that holds objects, or else an empty list where objects could be.
fn group_list<'a, 's>(map: &'a Map<'s>) -> Option<&'a Entry<'s>> {
    let fields = Fields::of(map);
    let is_empty = |entry: &&Entry<'_>| entry.value.as_list().is_some_and(<[_]>::is_empty);
    fields
        .all(keys::IN_GROUP)
        .find(|entry| entry.value.holds_objects())
        .or_else(|| fields.all(keys::IN_GROUP).find(is_empty))
}

/// The members of a list or of an object of objects, in the latter case with their entries.
fn members<'a, 's>(
    node: &'a Node<'s>,
) -> impl Iterator<Item = (Option<&'a Entry<'s>>, &'a Node<'s>)> {
    let items = node
        .as_list()
        .unwrap_or_default()
        .iter()
        .map(|item| (None, item));
    let entries = node
        .as_map()
        .map(|map| map.entries.as_slice())
        .unwrap_or_default();
    items.chain(entries.iter().map(|entry| (Some(entry), &entry.value)))
}

/// Explains as precisely as possible why no stories were found.
fn nothing_found(layout: &Layout<'_, '_>, root: &Node<'_>) -> Diagnostic {
    let add = "add at least one story with `id`, `title` and `acceptance_criteria`".to_owned();
    if layout.style == Style::Beads {
        let help = "an issue is an object with `id`, `title` and `status` on a line of its own";
        let label = "no line of this file is an issue";
        return Diagnostic::no_stories(Some(first_bytes(root.span)), label, help.to_owned());
    }
    let Some(map) = layout.root else {
        let (label, help) = match &root.value {
            Value::List(items) if items.is_empty() => ("this list is empty", add),
            Value::List(_) => ("no entry of this list is an object", add),
            _ => (
                "",
                format!(
                    "the file holds {}; a PRD is an object with `stories`",
                    root.kind()
                ),
            ),
        };
        return Diagnostic::no_stories(Some(first_bytes(root.span)), label, help);
    };
    let wrapped = || {
        map.entries
            .iter()
            .filter(|entry| names(keys::WRAPPERS, &entry.key))
            .find_map(|entry| entry.value.as_map())
    };
    let listed = |map| Fields::of(map).first(keys::CONTAINERS);
    if let Some(entry) = listed(map).or_else(|| wrapped().and_then(listed)) {
        let empty = members(&entry.value).next().is_none();
        let label = if empty {
            "this holds no stories"
        } else {
            "this holds no objects"
        };
        return Diagnostic::no_stories(Some(entry.key_span), label, add);
    }
    // The longest list of objects is probably what the author meant.
    let likely = map
        .entries
        .iter()
        .filter(|entry| entry.value.as_list().is_some() && entry.value.holds_objects());
    if let Some(entry) = likely.max_by_key(|entry| entry.value.as_list().map(<[_]>::len)) {
        let help = format!(
            "if the entries of `{}` are the stories, call it `stories`",
            shown(&entry.key)
        );
        let label = "a list of objects, but not under a key for stories";
        return Diagnostic::no_stories(Some(entry.key_span), label, help);
    }
    let help = "a PRD keeps them in a list under `stories` (or `userStories`, `tasks`, `items`, `features`, …)";
    let label = "no key of this object holds a list of stories";
    Diagnostic::no_stories(Some(first_bytes(root.span)), label, help.to_owned())
}

fn first_bytes(span: Span) -> Span {
    Span {
        end: span.end.min(span.start + 1),
        ..span
    }
}
