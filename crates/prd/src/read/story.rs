//! Reads everything that each story says.
//!
//! References between stories are left to `relate`.

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, Severity, Unusable, shown};
use crate::keys::{self, Fields};
use crate::node::{Entry, Node, Value};
use crate::plan::Known;
use crate::read::Context;
use crate::read::fields::{self, Wanted};
use crate::read::identify::Identity;
use crate::read::locate::{Found, Layout, Style};
use crate::read::state::{self, StateFields};
use crate::read::tracker;
use crate::source::Span;
use crate::story::{Check, Criterion, Priority, Story, StoryId};

/// A story whose dependencies have not been checked yet.
pub(crate) struct Draft {
    pub(crate) story: Story,
    /// The place to point at in diagnostics about the story.
    pub(crate) at: Span,
    pub(crate) depends_on: Vec<Wanted>,
    pub(crate) blocks: Vec<Wanted>,
    /// Index in the layout's groups.
    pub(crate) group: Option<usize>,
}

/// Reads every story whose id is usable.
pub(crate) fn read_all(
    layout: &Layout<'_, '_>,
    ids: Vec<Identity>,
    context: &mut Context<'_>,
) -> Vec<Draft> {
    let words = ids.iter().flatten().map(|(id, _)| id.as_str());
    let known = Known::of_issues(words.filter(|_| layout.style == Style::GitHub));
    let pairs = layout.stories.iter().zip(ids);
    pairs
        .filter_map(|(found, id)| Some(read_one(found, (layout.style, &known), id?, context)))
        .collect()
}

fn read_one(
    found: &Found<'_, '_>,
    (style, known): (Style, &Known),
    (id, at): (StoryId, Span),
    context: &mut Context<'_>,
) -> Draft {
    let mut reader = Reader {
        style,
        known,
        fields: Fields::of(found.map),
        found,
        used: Vec::with_capacity(12),
        context,
    };
    reader.complain_about_two_spellings();
    reader.mark_ids_used();
    let state_fields = StateFields::among(&reader.fields);
    let state = state::read(&id, state_fields, reader.context);
    let state_entries = [state_fields.flag, state_fields.skipped, state_fields.status];
    let all_flags = state::further_flags(&reader.fields);
    reader.used.extend(
        state_entries
            .into_iter()
            .flatten()
            .chain(all_flags)
            .map(|entry| entry.key_span),
    );
    // Title and criteria may stand in for each other, so both are read before either is replaced.
    let given_title = reader.text(keys::TITLE, "title");
    let description = reader.description();
    let given_criteria = reader.criteria();
    let title = reader.title(given_title, &description, &given_criteria, &id, at);
    let criteria = reader.or_stand_in(given_criteria, &description, &title, &id, at);
    let depends_on = reader.depends_on(&id);
    let blocks = reader.wanted(keys::BLOCKS, "blocks");
    let priority = reader.priority();
    let tool = reader.tool(&id);
    let model = reader.text(keys::MODEL, "model");
    let files = reader.files();
    let checks = reader.checks();
    let notes = reader.notes();
    let group = reader.text(keys::GROUP, "group");
    // The canonical form always writes these keys, so a value under one of them that could not be
    // used must not be kept beside it.
    let always = |entry: &&Entry<'_>| keys::ALWAYS_WRITTEN.contains(&entry.key.as_ref());
    reader.used.extend(
        found
            .map
            .entries
            .iter()
            .filter(always)
            .map(|entry| entry.key_span),
    );
    let extra = fields::extras(found.map, &reader.used);
    let story = Story {
        id,
        title,
        description,
        notes,
        criteria,
        priority,
        state,
        tool,
        model,
        files,
        checks,
        group,
        extra,
        depends_on: Vec::new(),
    };
    Draft {
        story,
        at,
        depends_on,
        blocks,
        group: found.group,
    }
}

struct Reader<'r, 'a, 's, 'o> {
    style: Style,
    /// The ids of all issues, which their bodies name.
    known: &'r Known,
    fields: Fields<'a, 's>,
    found: &'r Found<'a, 's>,
    /// The keys that were understood. All others are kept as they are.
    used: Vec<Span>,
    context: &'r mut Context<'o>,
}

impl<'a, 's> Reader<'_, 'a, 's, '_> {
    fn mark_ids_used(&mut self) {
        self.mark_used(keys::ID);
        // An issue's number is its id, and an empty body is none.
        if self.style == Style::GitHub {
            self.mark_used(&["number"]);
            self.mark_used(&["body"]);
        }
    }

    fn mark_used(&mut self, names: &[&str]) {
        if let Some(entry) = self.fields.first(names) {
            self.used.push(entry.key_span);
        }
    }

    /// Reports `title` beside `Title`. That is as bad as a duplicate key, and the parser cannot see
    /// it.
    fn complain_about_two_spellings(&mut self) {
        for (first, second) in self.fields.two_spellings() {
            self.context.complaints.push(Diagnostic::duplicate_key(
                &second.key,
                &first.key,
                second.key_span,
                first.key_span,
                Severity::Warning,
            ));
        }
    }

    /// Notes that an entry was read as a canonical key.
    fn take(&mut self, entry: &'a Entry<'s>, canonical: &'static str) -> &'a Node<'s> {
        self.used.push(entry.key_span);
        if entry.key != canonical {
            self.context
                .changed(entry.key_span, ChangeKind::Key(canonical));
        }
        &entry.value
    }

    /// The first of these fields that holds a word.
    fn text(&mut self, names: &[&str], canonical: &'static str) -> Option<String> {
        // A boolean says nothing as a title or a description.
        let is_word = |entry: &&Entry<'_>| {
            entry.value.as_word().is_some() && !matches!(entry.value.value, Value::Bool(_))
        };
        let entry = self.fields.all(names).find(is_word)?;
        let node = self.take(entry, canonical);
        if matches!(node.value, Value::Number(_)) {
            self.context.changed(node.span, ChangeKind::NumberAsText);
        }
        node.as_word().map(str::to_owned)
    }

    /// The description field and a ticket's body, both if there are both.
    fn description(&mut self) -> String {
        let body = self
            .found
            .body
            .map(|body| body.description.as_str())
            .unwrap_or_default();
        let in_its_style = match self.style {
            Style::TaskMaster => {
                let (used, text) = tracker::task_details(self.found.map);
                self.used.extend(used);
                Some(text)
            }
            Style::GitHub => self.text(&["body"], "description"),
            Style::Plain | Style::Beads | Style::TaskGraph | Style::Tickets => None,
        };
        // Where a tracker's own fields say nothing, a `goal` says what it says everywhere else.
        let own = in_its_style
            .filter(|text| !text.is_empty())
            .or_else(|| self.text(keys::DESCRIPTION, "description"))
            .unwrap_or_default();
        if own.is_empty() || body.is_empty() {
            own + body
        } else {
            format!("{own}\n\n{body}")
        }
    }

    /// The criteria of the first field that holds any, or else of a ticket's body.
    fn criteria(&mut self) -> Vec<Criterion> {
        let entries: Vec<&'a Entry<'s>> = self.fields.all(keys::CRITERIA).collect();
        for entry in entries {
            let found = fields::criteria(&entry.value, self.context);
            if !found.is_empty() {
                self.take(entry, "acceptance_criteria");
                return found;
            }
        }
        if self.style == Style::GitHub {
            return tracker::github_body(self.found.map, self.known).0;
        }
        let Some(body) = self.found.body.filter(|body| !body.criteria.is_empty()) else {
            return Vec::new();
        };
        if let Some((_, place)) = body.criteria.first() {
            let at = Span::new(self.found.node.span.file, *place, *place);
            self.context.changed(at, ChangeKind::CriteriaFromBody);
        }
        body.criteria
            .iter()
            .map(|(text, _)| Criterion {
                text: text.clone(),
                command: None,
            })
            .collect()
    }

    /// The title, or the best stand-in: the ticket's heading, the description's first line, the
    /// first criterion, the id.
    fn title(
        &mut self,
        given: Option<String>,
        description: &str,
        criteria: &[Criterion],
        id: &StoryId,
        at: Span,
    ) -> String {
        if let Some(title) = given {
            return title;
        }
        if let Some(heading) = self.found.body.and_then(|body| body.heading) {
            self.context
                .changed(at, ChangeKind::TitleFrom("the ticket's heading"));
            // A heading may repeat the ticket's id: `# T-1: Title`.
            let without_id = heading
                .strip_prefix(id.as_str())
                .map(|rest| rest.trim_start_matches([':', ' ', '-', '–', '—']));
            return without_id
                .filter(|rest| !rest.is_empty())
                .unwrap_or(heading)
                .to_owned();
        }
        if let Some(line) = description
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
        {
            self.context.changed(
                at,
                ChangeKind::TitleFrom("the first line of its description"),
            );
            return line.to_owned();
        }
        let id_given = self.fields.first(keys::ID).is_some() || self.found.key.is_some();
        let complaint = match criteria.first() {
            Some(_) => Diagnostic::title_borrowed(id, "its first criterion", at),
            None if id_given && self.found.map.entries.len() > 1 => {
                Diagnostic::title_borrowed(id, "its id", at)
            }
            None => Diagnostic::missing_title(id.as_str(), at),
        };
        self.context.complaints.push(complaint);
        criteria.first().map_or_else(
            || id.as_str().to_owned(),
            |criterion| criterion.text.clone(),
        )
    }

    /// The given criteria. A story without any is judged by its description or its title, and a
    /// warning says so.
    fn or_stand_in(
        &mut self,
        given: Vec<Criterion>,
        description: &str,
        title: &str,
        id: &StoryId,
        at: Span,
    ) -> Vec<Criterion> {
        if !given.is_empty() {
            return given;
        }
        let (text, what) = match (description, title) {
            ("", title) if title == id.as_str() => (title, "its id"),
            ("", title) => (title, "its title"),
            (description, _) => (description, "its description"),
        };
        if self.style.is_tracker() {
            self.context.changed(at, ChangeKind::CriteriaFrom(what));
        } else {
            let found = Diagnostic::missing_criteria(id, at, what);
            self.context.complaints.push(found);
        }
        vec![Criterion {
            text: text.to_owned(),
            command: None,
        }]
    }

    /// What the story waits for, in the way that its tracker writes it.
    fn depends_on(&mut self, id: &StoryId) -> Vec<Wanted> {
        if self.style == Style::GitHub {
            return tracker::github_body(self.found.map, self.known).1;
        }
        let blockers = self
            .fields
            .named("dependencies")
            .filter(|_| self.style == Style::Beads);
        let typed =
            blockers.and_then(|entry| Some((entry, tracker::blockers(entry, id.as_str())?)));
        if let Some((entry, blockers)) = typed {
            self.take(entry, "depends_on");
            return blockers;
        }
        self.wanted(keys::DEPENDS_ON, "depends_on")
    }

    fn wanted(&mut self, names: &[&str], canonical: &'static str) -> Vec<Wanted> {
        // A story may have both `depends_on` and `blockedBy`; all of them count.
        let entries: Vec<&'a Entry<'s>> = self.fields.all(names).collect();
        let mut all = Vec::new();
        for entry in entries {
            self.take(entry, canonical);
            all.extend(fields::wanted(entry, self.context));
        }
        all
    }

    /// The priority as a number. Only a number that is out of range is an error; an unusable word
    /// just means that there is no priority.
    fn priority(&mut self) -> Option<Priority> {
        let entry = self.fields.first(keys::PRIORITY)?;
        let node = self.take(entry, "priority");
        let mut refuse = |found: &str, severity| {
            let instead = "the story is treated as having none";
            let help = "use a number, critical, high, medium or low, or P0 to P3";
            let unusable = Unusable {
                field: "priority",
                found,
                instead,
                help,
            };
            self.context
                .complaints
                .push(Diagnostic::unusable_value(&unusable, node.span, severity));
            None
        };
        match &node.value {
            Value::Null => None,
            Value::Number(text) => match Priority::from_number(text) {
                Some(priority) => Some(priority),
                None => refuse("a number of that size", Severity::Error),
            },
            Value::Text(text) if text.trim().is_empty() => None,
            Value::Text(text) => {
                match Priority::from_number(text.trim())
                    .or_else(|| keys::priority_of_word(text.trim()))
                {
                    Some(priority) => {
                        self.context
                            .changed(node.span, ChangeKind::PriorityFromWord(priority));
                        Some(priority)
                    }
                    None => refuse(&format!("`{}`", shown(text)), Severity::Warning),
                }
            }
            Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                refuse(node.kind(), Severity::Warning)
            }
        }
    }

    fn tool(&mut self, id: &StoryId) -> Option<String> {
        let entry = self.fields.first(keys::TOOL)?;
        let Some(asked) = entry.value.as_word() else {
            if !matches!(entry.value.value, Value::Null | Value::Text(_)) {
                let unusable = Unusable {
                    field: "tool",
                    found: entry.value.kind(),
                    instead: "it was passed over",
                    help: "name one agent, for example `codex`",
                };
                self.context.complaints.push(Diagnostic::unusable_value(
                    &unusable,
                    entry.value.span,
                    Severity::Warning,
                ));
            }
            return None;
        };
        let node = self.take(entry, "tool");
        let lower = asked.to_lowercase();
        // The operator's own names win, and only as they are spelt in the configuration.
        let configured = self
            .context
            .options
            .tools
            .iter()
            .find(|tool| **tool == asked);
        if let Some(tool) = configured {
            return Some(tool.clone());
        }
        for (tool, aliases) in keys::TOOLS {
            if asked == *tool {
                return Some((*tool).to_owned());
            }
            if lower == *tool || aliases.contains(&lower.as_str()) {
                self.context
                    .changed(node.span, ChangeKind::ToolFromAlias(tool));
                return Some((*tool).to_owned());
            }
        }
        if self.context.options.takes_any_tool {
            return Some(asked.to_owned());
        }
        let known: Vec<&str> = keys::TOOLS
            .iter()
            .map(|(tool, _)| *tool)
            .chain(self.context.options.tools.iter().map(String::as_str))
            .collect();
        let near = crate::near::nearest(&lower, known.iter().copied());
        self.context
            .complaints
            .push(Diagnostic::unknown_tool(asked, id, node.span, near, &known));
        None
    }

    fn files(&mut self) -> Vec<String> {
        let found = self
            .fields
            .first(keys::FILES)
            .and_then(|entry| Some((entry, fields::files(&entry.value)?)));
        // A value in another shape is kept as it is.
        let Some((entry, files)) = found else {
            return Vec::new();
        };
        self.take(entry, "files");
        files
    }

    fn notes(&mut self) -> Option<String> {
        let entry = self.fields.first(keys::NOTES)?;
        let notes = fields::notes(&entry.value, self.context)?;
        if notes.is_empty() {
            self.used.push(entry.key_span);
            return None;
        }
        self.take(entry, "notes");
        Some(notes)
    }

    fn checks(&mut self) -> Vec<Check> {
        let mut all = Vec::new();
        for (key, name) in keys::CHECKS {
            let found = self
                .fields
                .named(key)
                .and_then(|entry| Some((entry, fields::checks(&entry.value, *name)?)));
            if let Some((entry, checks)) = found {
                self.take(entry, "checks");
                all.extend(checks);
            }
        }
        all
    }
}
