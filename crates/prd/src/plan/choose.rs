//! Decides what the stories of a text are. The rules look at what stands in the text; the file's
//! name breaks a tie and no more.
//!
//! The rules in order: boxes with task ids (`T001`); headings that name user stories; headings with
//! a box; headings with ids that carry boxes, a state or dependencies; numbered headings over boxes
//! without numbers; rows with task ids; numbered boxes, of which the leaves count; boxes that stand in
//! no other box; items with a word for their state; tables with a column for it; phases with a state;
//! sections named after one.

use super::label::{IdKind, Label};
use super::lines::Kind;
use super::seat::Seat;
use super::survey::Survey;
use super::table::{self, Table};
use super::words::state_of;

/// The stories, and why these.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) seats: Vec<Seat>,
    /// For every item, the item whose box is ticked along with the last of its children.
    pub(super) parents: Vec<Option<usize>>,
    pub(super) tables: Vec<Table>,
    /// What was taken as a story, in words.
    pub(super) how: &'static str,
}

type Rule = fn(&Survey<'_>, &str) -> Choice;

/// The rules in order, each with what it takes as a story. The first that finds any decides.
const RULES: &[(&str, Rule)] = &[
    ("each check box with a task id", |survey, _| {
        boxes(task_boxes(survey))
    }),
    ("each heading of a user story", |survey, _| {
        heads(story_headings(survey))
    }),
    ("each heading with a check box", |survey, _| {
        heads(boxed_headings(survey))
    }),
    ("each heading with an id", |survey, _| {
        heads(id_headings(survey))
    }),
    ("each heading with a state or dependencies", |survey, _| {
        heads(headings_with_state(survey))
    }),
    ("each numbered heading", |survey, name| {
        heads(numbered_headings(survey, name))
    }),
    ("each row of a table with task ids", |survey, _| {
        task_rows(survey)
    }),
    (
        "each numbered check box without others below it",
        |survey, _| leaves(survey),
    ),
    ("each check box that stands in no other", |survey, _| {
        boxes(survey.top_boxes().map(|(item, _)| item).collect())
    }),
    ("each item with a word for its state", |survey, _| {
        bullets(tagged(survey))
    }),
    ("each row of a table of tasks", |survey, _| {
        let tables = table::tables(&survey.outline);
        Choice {
            seats: table::seats(&tables),
            tables,
            ..Choice::default()
        }
    }),
    ("each phase with a state", |survey, _| {
        heads(phases_with_state(survey))
    }),
    (
        "each item under a heading that names a state",
        |survey, _| bullets(in_state_sections(survey)),
    ),
];

/// Finds the stories. `name` is the file's name.
pub(super) fn choose(survey: &Survey<'_>, name: &str) -> Choice {
    let mut tried = RULES.iter().map(|(how, rule)| Choice {
        how,
        ..rule(survey, name)
    });
    tried
        .find(|choice| !choice.seats.is_empty())
        .unwrap_or_default()
}

fn heads(found: Vec<usize>) -> Choice {
    Choice {
        seats: found.into_iter().map(Seat::Head).collect(),
        ..Choice::default()
    }
}

fn boxes(found: Vec<usize>) -> Choice {
    Choice {
        seats: found.into_iter().map(Seat::Box).collect(),
        ..Choice::default()
    }
}

fn bullets(found: Vec<usize>) -> Choice {
    Choice {
        seats: found.into_iter().map(Seat::Bullet).collect(),
        ..Choice::default()
    }
}

/// Boxes such as `- [ ] T001 …`, if a good part of all boxes is written so.
fn task_boxes(survey: &Survey<'_>) -> Vec<usize> {
    let is_task = |label: &Label| label.kind() == Some(IdKind::Task);
    let found: Vec<usize> = survey
        .all_boxes()
        .filter(|(_, label)| is_task(label))
        .map(|(item, _)| item)
        .collect();
    if found.len() * 3 >= survey.top_boxes().count() {
        found
    } else {
        Vec::new()
    }
}

/// `### US-001: …` and, without those, `### User Story 1 - …`.
fn story_headings(survey: &Survey<'_>) -> Vec<usize> {
    let of_kind = |kind| -> Vec<usize> {
        let all = 0..survey.heads.len();
        all.filter(|head| survey.head_kind(*head) == Some(kind))
            .collect()
    };
    let codes = of_kind(IdKind::UserStoryCode);
    if codes.is_empty() {
        of_kind(IdKind::UserStory)
    } else {
        codes
    }
}

/// `### [ ] Title` and `### Title [x]`. A heading over others with boxes is their group.
fn boxed_headings(survey: &Survey<'_>) -> Vec<usize> {
    let is_boxed = |head: &usize| survey.heads[*head].boxed.is_some();
    innermost(survey, (0..survey.heads.len()).filter(is_boxed).collect())
}

/// Those headings that have none of the others in their section.
fn innermost(survey: &Survey<'_>, heads: Vec<usize>) -> Vec<usize> {
    let mut has_inner = vec![false; survey.heads.len()];
    for head in &heads {
        let mut above = survey.outline.heads[*head].parent;
        // A heading that is marked has marked everything above it.
        while let Some(parent) = above.filter(|parent| !has_inner[*parent]) {
            has_inner[parent] = true;
            above = survey.outline.heads[parent].parent;
        }
    }
    heads.into_iter().filter(|head| !has_inner[*head]).collect()
}

/// Prefixes of ids that name requirements, criteria, risks and decisions, not work.
const NOT_WORK: &[&str] = &[
    "AC", "FR", "NFR", "SC", "REQ", "RQ", "RISK", "ADR", "BR", "UC", "OQ", "ISO", "RFC", "CVE",
    "UTF", "SHA",
];

/// Headings such as `### Task 1.1`, `### T001` or `### P0-1`, if most carry boxes, a state or
/// dependencies.
fn id_headings(survey: &Survey<'_>) -> Vec<usize> {
    let of_kind = |kind: IdKind| {
        let is_it = move |head: &usize| {
            let id = survey.heads[*head].id.as_ref();
            id.is_some_and(|(found, id)| {
                let prefix = id.split(|c: char| !c.is_ascii_alphabetic()).next();
                *found == kind && !prefix.is_some_and(|prefix| NOT_WORK.contains(&prefix))
            })
        };
        let heads = innermost(survey, (0..survey.heads.len()).filter(is_it).collect());
        let carries = |head: &&usize| has_boxes(survey, **head) || has_evidence(survey, **head);
        let carrying = heads.iter().filter(carries).count();
        let numbered = heads.iter().any(|head| boxes_go_on_with(survey, *head));
        if carrying * 2 >= heads.len() && !numbered {
            heads
        } else {
            Vec::new()
        }
    };
    [IdKind::Task, IdKind::TaskWord, IdKind::Code]
        .into_iter()
        .map(of_kind)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

fn has_boxes(survey: &Survey<'_>, head: usize) -> bool {
    survey.boxes_of_head(head).next().is_some()
}

/// Says whether a heading carries a state of its own, or dependencies.
fn has_evidence(survey: &Survey<'_>, head: usize) -> bool {
    survey.heads[head].sign.is_some()
        || survey.status(head).is_some()
        || survey.names_dependencies(head)
}

/// Says whether the boxes under a heading with a number go on with that number: `1.1` under `1`.
/// Then they are the tasks, and the heading is their group.
fn boxes_go_on_with(survey: &Survey<'_>, head: usize) -> bool {
    let Some((_, id)) = &survey.heads[head].id else {
        return false;
    };
    survey.boxes_of_head(head).any(|item| {
        let label = survey.boxes[item]
            .as_ref()
            .and_then(|label| label.id.as_ref());
        label.is_some_and(|(_, number)| {
            number.strip_prefix(id.as_str()).is_some_and(|rest| {
                rest.is_empty()
                    || rest.starts_with('.')
                    || rest.starts_with(|c: char| c.is_ascii_lowercase())
            })
        })
    })
}

/// Rows that begin with task ids, if there are more of them than boxes.
fn task_rows(survey: &Survey<'_>) -> Choice {
    let mut tables = table::tables(&survey.outline);
    tables.retain(|table| table.has_task_ids);
    let seats = table::seats(&tables);
    if seats.len() <= survey.top_boxes().count() {
        return Choice::default();
    }
    Choice {
        seats,
        tables,
        ..Choice::default()
    }
}

/// Phases and other headings of one level that carry a state, where nothing smaller does.
fn phases_with_state(survey: &Survey<'_>) -> Vec<usize> {
    let says_state = |head: &usize| {
        let label = &survey.heads[*head];
        let has_sign = label.sign.is_some() && (label.is_group || label.id.is_some());
        survey.status(*head).is_some() || has_sign
    };
    let of_level = |level: usize| {
        let heads = 0..survey.heads.len();
        let heads = heads.filter(|head| survey.outline.heads[*head].level == level);
        let heads: Vec<usize> = heads.filter(|head| survey.heads[*head].is_group).collect();
        let speaking = heads.iter().filter(|head| says_state(head)).count();
        if speaking >= 2 { heads } else { Vec::new() }
    };
    (1..=6)
        .map(of_level)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

/// Headings of one level of which at least half carry a state or dependencies. Phases and the like
/// are groups, whatever they carry.
fn headings_with_state(survey: &Survey<'_>) -> Vec<usize> {
    let of_level = |level: usize| {
        let candidates: Vec<usize> = (0..survey.heads.len())
            .filter(|head| survey.outline.heads[*head].level == level)
            .filter(|head| !survey.heads[*head].is_group)
            .collect();
        // A sign alone decorates many a heading; beside a number it is a state.
        let carries = |head: &usize| {
            let has_id = survey.head_kind(*head).is_some();
            let speaks = survey.status(*head).is_some() || survey.names_dependencies(*head);
            speaks || (has_id && survey.heads[*head].sign.is_some())
        };
        let carrying: Vec<usize> = candidates.iter().copied().filter(carries).collect();
        if carrying.len() < 2 || carrying.len() * 2 < candidates.len() {
            return Vec::new();
        }
        let kinds: Vec<IdKind> = carrying
            .iter()
            .filter_map(|head| survey.head_kind(*head))
            .collect();
        // Others with an id of the same form belong to them.
        let belongs = |head: &usize| {
            carrying.binary_search(head).is_ok()
                || survey
                    .head_kind(*head)
                    .is_some_and(|kind| kinds.contains(&kind))
        };
        candidates.into_iter().filter(belongs).collect()
    };
    let numbered = |heads: &Vec<usize>| heads.iter().any(|head| boxes_go_on_with(survey, *head));
    (1..=6)
        .map(of_level)
        .filter(|heads| !numbered(heads))
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

/// `## 1. Title` over boxes without numbers, as changes in `OpenSpec` have them. Elsewhere such a
/// heading is a group, so this needs a sign of `OpenSpec`: the file's name, or headings that begin at
/// the second level and are all numbered.
fn numbered_headings(survey: &Survey<'_>, name: &str) -> Vec<usize> {
    let levels = || survey.outline.heads.iter().map(|head| head.level);
    let is_number = |head: usize| survey.head_kind(head) == Some(IdKind::Number);
    let second: Vec<usize> = (0..survey.heads.len())
        .filter(|head| survey.outline.heads[*head].level == 2)
        .collect();
    let looks_so = levels().min() == Some(2) && second.iter().all(|head| is_number(*head));
    if !(looks_so || name.to_lowercase().contains("openspec")) {
        return Vec::new();
    }
    let has_number = |label: &Label| label.kind() == Some(IdKind::Number);
    if survey.top_boxes().any(|(_, label)| has_number(label)) {
        return Vec::new();
    }
    let heads = 0..survey.heads.len();
    innermost(
        survey,
        heads
            .filter(|head| is_number(*head) && has_boxes(survey, *head))
            .collect(),
    )
}

/// Numbered boxes as Kiro writes them: `1` is the group of `1.1`, whether or not that is indented.
/// Only if the numbers show groups, or the file has Kiro's notes about requirements.
fn leaves(survey: &Survey<'_>) -> Choice {
    let mut parents = survey.box_around.clone();
    let mut latest: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let mut by_number = false;
    let under_number = (0..survey.heads.len()).any(|head| {
        survey.head_kind(head) == Some(IdKind::Number) && boxes_go_on_with(survey, head)
    });
    for (item, label) in survey.all_boxes() {
        let Some((IdKind::Number | IdKind::TaskWord, number)) = &label.id else {
            continue;
        };
        if let Some((group, _)) = number.rsplit_once('.')
            && let Some(&parent) = latest.get(group)
        {
            parents[item] = Some(parent);
            by_number = true;
        }
        latest.insert(number, item);
    }
    let has_notes = || {
        let mut lines = survey.outline.lines.iter();
        let numbered = !latest.is_empty();
        numbered && lines.any(|line| line.words().starts_with("_Requirements:"))
    };
    if under_number || !(by_number || has_notes()) {
        return Choice::default();
    }
    let mut is_group = vec![false; parents.len()];
    for (item, _) in survey.all_boxes() {
        if let Some(parent) = parents[item] {
            is_group[parent] = true;
        }
    }
    let all = survey.all_boxes().map(|(item, _)| item);
    Choice {
        parents,
        ..boxes(all.filter(|item| !is_group[*item]).collect())
    }
}

/// Items that begin with a word for their state: `- [PENDING] …`.
fn tagged(survey: &Survey<'_>) -> Vec<usize> {
    let outline = &survey.outline;
    let is_tagged = |item: &usize| {
        outline.items[*item].parent.is_none()
            && tag(outline.lines[outline.items[*item].line].words()).is_some()
    };
    let found: Vec<usize> = (0..outline.items.len()).filter(is_tagged).collect();
    if found.len() > 1 { found } else { Vec::new() }
}

/// The word for a state that a text begins with in brackets, and where it is.
pub(super) fn tag(words: &str) -> Option<std::ops::Range<usize>> {
    let decoration = |c: char| matches!(c, '*' | '~' | '_' | ' ');
    let start = words.len() - words.trim_start_matches(decoration).len();
    let inside = words[start..].strip_prefix(['[', '('])?;
    let end = inside.find([']', ')'])?;
    let word = &inside[..end];
    let is_word = word.len() > 1 && state_of(word).is_some();
    is_word.then_some(start + 1..start + 1 + end)
}

/// Bullets under headings such as `## Done` and `## In Progress`, if nothing else says a state.
fn in_state_sections(survey: &Survey<'_>) -> Vec<usize> {
    let outline = &survey.outline;
    let states: Vec<bool> = (0..survey.heads.len())
        .map(|head| state_of(outline.head_words(head)).is_some())
        .collect();
    let says_done = (0..survey.heads.len())
        .any(|head| state_of(outline.head_words(head)) == Some(crate::story::StoryState::Passed));
    if !says_done || states.iter().filter(|is_state| **is_state).count() < 2 {
        return Vec::new();
    }
    let items = outline.items.iter().enumerate();
    items
        .filter(|(_, item)| item.parent.is_none() && item.head.is_some_and(|head| states[head]))
        .filter(|(_, item)| matches!(outline.lines[item.line].kind, Kind::Item(_, None)))
        .map(|(item, _)| item)
        .collect()
}
