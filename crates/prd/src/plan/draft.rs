//! One story of a plan, read from its place: words, criteria, state, and the places where the state
//! is written.

use std::collections::HashSet;
use std::ops::Range;

use super::boxes::CheckBox;
use super::choose::{Choice, tag};
use super::depends::{Known, Relations, relations};
use super::label::{IdKind, Label, item_label};
use super::lines::{Kind, Line};
use super::outline::Outline;
use super::seat::Seat;
use super::survey::Survey;
use super::words::{PRIORITY, after_label, state_of};
use crate::keys::priority_of_word;
use crate::limits::DEPENDENCIES_MAX;
use crate::story::{Priority, StoryState};

/// What a plan says about one story.
#[derive(Debug)]
pub(crate) struct PlanStory {
    /// The place to show to people: the words of the heading, the item or the cell.
    pub(crate) at: Range<usize>,
    pub(super) id: Option<(IdKind, String)>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) criteria: Vec<String>,
    pub(crate) state: StoryState,
    pub(crate) priority: Option<Priority>,
    pub(crate) group: Option<String>,
    pub(crate) relations: Relations,
    /// All places that say its state.
    pub(crate) sites: Vec<Site>,
}

impl PlanStory {
    /// Says whether its id is one such as `T001`.
    pub(crate) fn has_task_id(&self) -> bool {
        matches!(self.id, Some((IdKind::Task, _)))
    }
}

/// A place that says a state.
#[derive(Debug, Clone)]
pub(crate) enum Site {
    /// The mark of a check box, and whether it says done.
    Box(Range<usize>, bool),
    /// A word, such as `pending` in `**Status:** pending`.
    Word(Range<usize>, StoryState),
    /// A sign in a heading: where it is, or where it would be.
    Sign(Sign),
}

#[derive(Debug, Clone)]
pub(crate) enum Sign {
    /// The bytes of the sign with the blank that came with it.
    There(Range<usize>),
    /// What to insert where.
    Missing(usize, &'static str),
}

/// Reads the words of every story, without relations, which need all ids.
pub(super) fn stories(survey: &Survey<'_>, choice: &Choice) -> Vec<PlanStory> {
    let taken: HashSet<usize> = choice
        .seats
        .iter()
        .filter_map(|seat| match seat {
            Seat::Box(item) | Seat::Bullet(item) => Some(survey.outline.items[*item].line),
            Seat::Head(_) | Seat::Row(..) => None,
        })
        .collect();
    let signs = SignStyle::of(survey, choice);
    choice
        .seats
        .iter()
        .map(|seat| match *seat {
            Seat::Head(head) => of_head(survey, head, signs),
            Seat::Box(item) | Seat::Bullet(item) => of_item(survey, item, &taken),
            Seat::Row(table, row) => of_row(survey, choice, table, row),
        })
        .collect()
}

/// The words that a story is known by, as a place in the file.
pub(super) fn place(survey: &Survey<'_>, choice: &Choice, seat: Seat) -> Range<usize> {
    let line = match seat {
        Seat::Head(head) => survey.outline.heads[head].line,
        Seat::Box(item) | Seat::Bullet(item) => survey.outline.items[item].line,
        Seat::Row(table, row) => {
            let table = &choice.tables[table];
            return table.rows[row][table.columns.title].clone();
        }
    };
    let line = &survey.outline.lines[line];
    line.words_start()..line.words_start() + line.words().len()
}

/// The lines that belong to a story, its own line first.
fn extent(survey: &Survey<'_>, seat: Seat) -> Range<usize> {
    match seat {
        Seat::Head(head) => survey.outline.heads[head].line..survey.outline.heads[head].end,
        Seat::Box(item) | Seat::Bullet(item) => {
            survey.outline.items[item].line..survey.outline.items[item].end
        }
        Seat::Row(..) => 0..0,
    }
}

/// Adds what the stories say about each other.
pub(super) fn relate(survey: &Survey<'_>, choice: &Choice, stories: &mut [PlanStory]) {
    let given = stories.iter().filter_map(|story| story.id.as_ref());
    let known = Known::of(given.map(|(kind, id)| (*kind, id.as_str())));
    let mut total = 0;
    for (story, seat) in stories.iter_mut().zip(&choice.seats) {
        // A range may name every story; what is over the limit is refused as a whole anyway.
        if total > DEPENDENCIES_MAX {
            break;
        }
        let lines = &survey.outline.lines[extent(survey, *seat)];
        story.relations = relations(lines, &known);
        if let Seat::Row(table, row) = *seat {
            let table = &choice.tables[table];
            let needs = table
                .columns
                .needs
                .and_then(|column| table.rows[row].get(column));
            if let Some(cell) = needs {
                story.relations.needs = known.in_cell(survey.text_at(cell.clone()), cell.start);
            }
        }
        total += story.relations.needs.len();
    }
}

fn of_head(survey: &Survey<'_>, head: usize, signs: Option<SignStyle>) -> PlanStory {
    let outline = &survey.outline;
    let found = &survey.heads[head];
    let place = &outline.heads[head];
    let line = &outline.lines[place.line];
    let boxes: Vec<usize> = survey.boxes_of_head(head).collect();
    let status = survey.status(head);
    let mut sites = Vec::new();
    sites.extend(found.boxed.as_ref().map(box_site));
    sites.extend(sign_site(
        line,
        found,
        signs.filter(|_| found.boxed.is_none()),
    ));
    sites.extend(
        status
            .as_ref()
            .map(|status| Site::Word(status.at.clone(), status.state)),
    );
    sites.extend(
        boxes
            .iter()
            .filter_map(|item| outline.boxed(*item))
            .map(box_site),
    );
    let ticked = |item: &usize| outline.boxed(*item).is_some_and(CheckBox::is_ticked);
    let all_ticked = !boxes.is_empty() && boxes.iter().all(ticked);
    let state = match (&found.boxed, &found.sign, &status) {
        (Some(tick), _, _) if tick.is_ticked() => StoryState::Passed,
        (Some(_), _, Some(status)) if status.state != StoryState::Passed => status.state,
        (None, Some(_), _) => StoryState::Passed,
        (None, None, Some(status)) => status.state,
        (None, None, None) if all_ticked => StoryState::Passed,
        (Some(_), _, _) | (None, None, None) => StoryState::Open,
    };
    let mut body = Body::new(outline, place.line + 1..place.end);
    body.leave_out_line(status.map(|status| status.line));
    let criteria = if boxes.is_empty() {
        body.acceptance()
    } else {
        body.take_items(&boxes)
    };
    let (title, own_priority) = without_priority(&found.title);
    PlanStory {
        at: line.words_start()..line.words_start() + line.words().len(),
        id: found.id.clone(),
        title,
        description: body.text(),
        criteria,
        state,
        priority: own_priority.or_else(|| labelled_priority(outline, survey.own_lines(head))),
        group: place
            .parent
            .filter(|parent| outline.heads[*parent].level > 1)
            .map(|parent| outline.head_words(parent).to_owned()),
        relations: Relations::default(),
        sites,
    }
}

fn box_site(boxed: &CheckBox) -> Site {
    Site::Box(boxed.mark.clone(), boxed.is_ticked())
}

/// Where a file has its signs for done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignStyle {
    Front,
    BehindTags,
    End,
}

impl SignStyle {
    /// The place of the first sign in a heading that is a story; `None` where there are none.
    fn of(survey: &Survey<'_>, choice: &Choice) -> Option<Self> {
        choice.seats.iter().find_map(|seat| {
            let Seat::Head(head) = *seat else { return None };
            let found = &survey.heads[head];
            let sign = found.sign.as_ref()?;
            let line = &survey.outline.lines[survey.outline.heads[head].line];
            let behind = line.text[sign.end - line.start..].trim();
            Some(if sign.start < found.title_start {
                Self::Front
            } else if behind.is_empty() || state_of(behind).is_some() {
                Self::End
            } else {
                Self::BehindTags
            })
        })
    }
}

fn sign_site(line: &Line<'_>, found: &Label, style: Option<SignStyle>) -> Option<Site> {
    if let Some(sign) = &found.sign {
        let (before, after) = (
            &line.text[..sign.start - line.start],
            &line.text[sign.end - line.start..],
        );
        // The blank that came with the sign goes with it.
        let range = if after.starts_with(' ') && !after.trim().is_empty() {
            sign.start..sign.end + 1
        } else if before.ends_with(' ') {
            sign.start - 1..sign.end
        } else {
            sign.clone()
        };
        return Some(Site::Sign(Sign::There(range)));
    }
    let end = line.words_start() + line.words().len();
    Some(Site::Sign(match style? {
        SignStyle::Front => Sign::Missing(line.words_start(), "✅ "),
        SignStyle::End => Sign::Missing(end, " ✅"),
        SignStyle::BehindTags => {
            let mut rest = &line.text[found.title_start - line.start..end - line.start];
            while let Some((_, behind)) = rest.strip_prefix('[').and_then(|tag| tag.split_once(']'))
            {
                rest = behind.trim_start();
            }
            Sign::Missing(end - rest.len(), "✅ ")
        }
    }))
}

fn of_item(survey: &Survey<'_>, item: usize, taken: &HashSet<usize>) -> PlanStory {
    let outline = &survey.outline;
    let place = &outline.items[item];
    let line = &outline.lines[place.line];
    let words = outline.item_words(item);
    let tagged = tag(line.words());
    let mut sites: Vec<Site> = outline.boxed(item).map(box_site).into_iter().collect();
    let mut title_from = 0;
    let mut state = outline.boxed(item).map(|boxed| boxed.state);
    if let (None, Some(tag)) = (state, tagged) {
        state = state_of(&words[tag.clone()]);
        let at = line.words_start() + tag.start..line.words_start() + tag.end;
        sites.push(Site::Word(at, state.unwrap_or(StoryState::Open)));
        title_from = tag.end + 1;
    }
    let head = place.head.filter(|head| outline.heads[*head].level > 1);
    let of_section = || head.and_then(|head| state_of(outline.head_words(head)));
    let found = item_label(&words[title_from..]);
    let mut body = Body::new(outline, place.line + 1..place.end);
    body.skip_wrapped_words();
    let nested: Vec<usize> = outline
        .items_within(place.line + 1..place.end)
        .filter(|inner| {
            survey.boxes[*inner].is_some() && !taken.contains(&outline.items[*inner].line)
        })
        .filter(|inner| survey.box_around[*inner] == Some(item))
        .collect();
    let criteria = body.take_items(&nested);
    PlanStory {
        at: line.words_start()..line.words_start() + line.words().len(),
        title: if found.title.is_empty() {
            words.clone()
        } else {
            found.title
        },
        id: found.id,
        description: body.text(),
        criteria,
        state: state.or_else(of_section).unwrap_or(StoryState::Open),
        priority: None,
        group: head.map(|head| outline.head_words(head).to_owned()),
        relations: Relations::default(),
        sites,
    }
}

fn of_row(survey: &Survey<'_>, choice: &Choice, table: usize, row: usize) -> PlanStory {
    let table = &choice.tables[table];
    let cells = &table.rows[row];
    let text_of = |cell: &Range<usize>| survey.text_at(cell.clone());
    let title_cell = cells[table.columns.title].clone();
    let mut found = item_label(text_of(&title_cell));
    if let Some(id) = table.columns.id.and_then(|column| cells.get(column)) {
        let given = item_label(text_of(id));
        let plain = || Some((IdKind::Number, text_of(id).to_owned()));
        found.id = given.id.or_else(plain).filter(|(_, id)| !id.is_empty());
    }
    let status = table.columns.status.and_then(|column| cells.get(column));
    let state = status.and_then(|cell| state_of(text_of(cell)));
    let site = status.map(|cell| Site::Word(cell.clone(), state.unwrap_or(StoryState::Open)));
    let title = if found.title.is_empty() {
        text_of(&title_cell).to_owned()
    } else {
        found.title
    };
    PlanStory {
        at: title_cell,
        id: found.id,
        title,
        description: String::new(),
        criteria: Vec::new(),
        state: state.unwrap_or(StoryState::Open),
        priority: None,
        group: None,
        relations: Relations::default(),
        sites: site.into_iter().collect(),
    }
}

/// A title without `(Priority: P1)` at its end, and that priority.
fn without_priority(title: &str) -> (String, Option<Priority>) {
    let Some(open) = title.rfind(['(', '（']) else {
        return (title.to_owned(), None);
    };
    let inside = title[open..].trim_matches(['(', ')', '（', '）', ' ']);
    match after_label(inside, PRIORITY).and_then(|word| priority_of_word(word.trim())) {
        Some(priority) => (title[..open].trim().to_owned(), Some(priority)),
        None => (title.to_owned(), None),
    }
}

fn labelled_priority(outline: &Outline<'_>, lines: Range<usize>) -> Option<Priority> {
    outline.lines[lines].iter().find_map(|line| {
        let rest = after_label(line.words(), PRIORITY)
            .filter(|_| matches!(line.kind, Kind::Text(_) | Kind::Item(_, None)))?;
        priority_of_word(rest.split_whitespace().next()?)
    })
}

/// The lines below a story's own line, of which some are taken for other things.
struct Body<'o, 's> {
    outline: &'o Outline<'s>,
    lines: Range<usize>,
    left_out: HashSet<usize>,
}

impl<'o, 's> Body<'o, 's> {
    fn new(outline: &'o Outline<'s>, lines: Range<usize>) -> Self {
        Self {
            outline,
            lines,
            left_out: HashSet::new(),
        }
    }

    fn leave_out_line(&mut self, line: Option<usize>) {
        self.left_out.extend(line);
    }

    /// Passes over the lines that the words of an item are wrapped over.
    fn skip_wrapped_words(&mut self) {
        let is_wrapped = |line: &&Line<'_>| matches!(line.kind, Kind::Text(_));
        let wrapped = self.outline.lines[self.lines.clone()]
            .iter()
            .take_while(is_wrapped);
        self.lines.start += wrapped.count();
    }

    /// Takes items out as criteria, each with what stands below it, up to the next of them.
    fn take_items(&mut self, items: &[usize]) -> Vec<String> {
        let mut criteria = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = &self.outline.items[*item];
            let next = items
                .get(index + 1)
                .map(|next| self.outline.items[*next].line);
            let end = next.map_or(place.end, |next| next.min(place.end));
            let below = self.outline.lines[place.line + 1..end].iter();
            let below = below
                .filter(|line| line.kind != Kind::Blank)
                .map(|line| line.text.trim());
            let own = self.outline.lines[place.line].words();
            let words: Vec<&str> = std::iter::once(own).chain(below).collect();
            criteria.push(words.join("\n").trim().to_owned());
            self.left_out.extend(place.line..end);
        }
        criteria.retain(|criterion| !criterion.is_empty());
        criteria
    }

    /// The items of the list under a line that speaks of acceptance.
    fn acceptance(&mut self) -> Vec<String> {
        let lines = &self.outline.lines;
        let is_label = |index: &usize| {
            let line = &lines[*index];
            let is_short = line.words().len() <= 80;
            is_short
                && matches!(
                    line.kind,
                    Kind::Text(_) | Kind::Heading(..) | Kind::Item(_, None)
                )
                && is_about_acceptance(line.words())
        };
        let Some(label) = self.lines.clone().find(is_label) else {
            return Vec::new();
        };
        let end = (label + 1..self.lines.end)
            .find(|index| matches!(lines[*index].kind, Kind::Heading(..)))
            .unwrap_or(self.lines.end);
        let within = self.outline.items_within(label + 1..end);
        let Some(first) = within.clone().next() else {
            return Vec::new();
        };
        let parent = self.outline.items[first].parent;
        // The list ends where a paragraph at the margin begins.
        let mut list_end = self.outline.items[first].line;
        let siblings: Vec<usize> = within
            .filter(|item| self.outline.items[*item].parent == parent)
            .take_while(|item| {
                let place = &self.outline.items[*item];
                let goes_on = lines[list_end..place.line]
                    .iter()
                    .all(|line| line.kind == Kind::Blank);
                list_end = place.end;
                goes_on
            })
            .collect();
        self.take_items(&siblings)
    }

    /// What is left, without the indent that all lines share.
    fn text(&self) -> String {
        let kept: Vec<&Line<'_>> = self
            .lines
            .clone()
            .filter(|index| !self.left_out.contains(index))
            .map(|index| &self.outline.lines[index])
            .collect();
        let shown = |line: &&&Line<'_>| line.kind != Kind::Blank;
        let indent = kept
            .iter()
            .filter(shown)
            .map(|line| line.text.len() - line.text.trim_start().len())
            .min();
        let cut = |line: &&Line<'_>| {
            line.text
                .get(indent.unwrap_or(0)..)
                .unwrap_or("")
                .trim_end()
                .to_owned()
        };
        let text = kept.iter().map(cut).collect::<Vec<_>>().join("\n");
        text.trim().to_owned()
    }
}

/// Words in headings and labels over the criteria of a story.
fn is_about_acceptance(words: &str) -> bool {
    const WORDS: &[&str] = &[
        "acceptance",
        "criteria",
        "definition of done",
        "done when",
        "akzeptanz",
        "abnahme",
        "critérios",
        "criterios",
        "critères",
        "criteri",
        "kryteria",
        "критерии",
        "критерії",
        "验收",
        "驗收",
        "受け入れ",
        "受入",
        "수용 기준",
        "인수 기준",
        "완료 조건",
        "tiêu chí",
    ];
    let lower = words.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}
