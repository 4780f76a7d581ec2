//! Plans in Markdown: check boxes, headings and tables that people keep their tasks in.
//!
//! The text is read line by line into an outline, a rule decides what the stories are, and each
//! story is read from its place. The same walk gives the places that a mark changes.

mod boxes;
mod choose;
mod depends;
mod draft;
mod ids;
mod label;
mod lines;
mod outline;
mod seat;
mod survey;
mod table;
mod words;

mod tick;

use std::collections::HashMap;

use crate::limits::STORIES_MAX;
use crate::story::{StoryId, StoryState};
use boxes::CheckBox;
use choose::choose;
pub(crate) use depends::{Known, Reference};
pub(crate) use draft::PlanStory;
use draft::Site;
pub(crate) use ids::Made;
use seat::Seat;
use survey::Survey;

/// A plan that was read, with everything that a mark needs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) stories: Vec<PlanStory>,
    /// The first story over the limit; then there are no stories at all.
    pub(crate) over: Option<std::ops::Range<usize>>,
    pub(crate) ids: Vec<StoryId>,
    /// How each id came about.
    pub(crate) made: Vec<Made>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// What was taken as a story, in words.
    pub(crate) how: &'static str,
    /// For each story, the list item that it is.
    items: Vec<Option<usize>>,
    /// For each list item, the item whose box is ticked along.
    parents: Vec<Option<usize>>,
    /// The box of each list item.
    boxes: Vec<Option<CheckBox>>,
    /// The mark that this file ticks its boxes with.
    tick: String,
    /// The words for states that this file uses.
    words: HashMap<StoryState, String>,
}

/// Why a story's state cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmarkable {
    /// The author has no mark for it.
    NoPlace,
    /// A box can say that a story is done, and nothing else.
    OnlyDone,
}

impl Plan {
    /// Reads a text. `base` is its offset in the file, and `name` the file's name, which only breaks
    /// ties.
    pub(crate) fn of(text: &str, base: usize, name: &str) -> Self {
        let survey = Survey::of(text, base);
        let mut choice = choose(&survey, name);
        let over = choice
            .seats
            .get(STORIES_MAX)
            .map(|seat| draft::place(&survey, &choice, *seat));
        // What is refused anyway is not worth reading.
        if over.is_some() {
            choice.seats.clear();
        }
        let mut stories = draft::stories(&survey, &choice);
        draft::relate(&survey, &choice, &mut stories);
        let outline = &survey.outline;
        let given: Vec<(Option<&str>, &str)> = stories
            .iter()
            .map(|story| {
                (
                    story.id.as_ref().map(|(_, id)| id.as_str()),
                    story.title.as_str(),
                )
            })
            .collect();
        let (ids, made) = ids::unique(&given).into_iter().unzip();
        let items = choice.seats.iter().map(|seat| match seat {
            Seat::Box(item) => Some(*item),
            Seat::Head(_) | Seat::Bullet(_) | Seat::Row(..) => None,
        });
        let boxes = (0..outline.items.len()).map(|item| outline.boxed(item).cloned());
        let word_of = |site: &Site| match site {
            Site::Word(at, state) if !at.is_empty() => {
                Some((*state, survey.text_at(at.clone()).to_owned()))
            }
            Site::Word(..) | Site::Box(..) | Site::Sign(_) => None,
        };
        let words = stories
            .iter()
            .flat_map(|story| &story.sites)
            .filter_map(word_of);
        Self {
            over,
            words: tick::words(words),
            tick: usual_tick(&survey),
            title: title(&survey),
            description: introduction(&survey),
            how: choice.how,
            items: items.collect(),
            boxes: boxes.collect(),
            parents: choice.parents,
            ids,
            made,
            stories,
        }
    }

    /// The bytes that change when a story gets another state, each with its new text.
    pub(crate) fn changes(
        &self,
        index: usize,
        state: StoryState,
        text: &str,
    ) -> Result<Vec<tick::Change>, Unmarkable> {
        tick::changes(self, index, state, text)
    }

    /// Says whether the file has no place for the state of any story that is still to be done.
    pub(crate) fn holds_no_state(&self) -> bool {
        self.stories.iter().all(|story| story.sites.is_empty())
    }
}

/// The mark that most ticked boxes have; `x` where no other has more.
fn usual_tick(survey: &Survey<'_>) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::from([("x", 0)]);
    let boxes = survey.all_boxes();
    for boxed in boxes.filter_map(|(item, _)| survey.outline.boxed(item)) {
        if boxed.is_ticked() {
            *counts
                .entry(survey.text_at(boxed.mark.clone()))
                .or_default() += 1;
        }
    }
    let most = counts
        .into_iter()
        .max_by_key(|(mark, count)| (*count, *mark == "x", *mark));
    most.map_or_else(String::new, |(mark, _)| mark.to_owned())
}

/// The first heading, if it is the only one of the first level.
fn title(survey: &Survey<'_>) -> Option<String> {
    let first = survey
        .outline
        .heads
        .first()
        .filter(|head| head.level == 1)?;
    let words = survey.outline.lines[first.line].words();
    (!words.is_empty()).then(|| words.to_owned())
}

/// The text before the first list and the first heading below the title.
fn introduction(survey: &Survey<'_>) -> Option<String> {
    const BYTES_MAX: usize = 4_000;
    let outline = &survey.outline;
    let from = match outline.heads.first() {
        Some(head) if head.level == 1 => head.line + 1,
        _ => 0,
    };
    let ends = |line: &&lines::Line<'_>| {
        !matches!(
            line.kind,
            lines::Kind::Heading(..) | lines::Kind::Item(..) | lines::Kind::Row
        )
    };
    let shown = outline.lines[from..].iter().take_while(ends);
    let text: Vec<&str> = shown
        .filter(|line| matches!(line.kind, lines::Kind::Text(_) | lines::Kind::Blank))
        .map(|line| line.text.trim_end())
        .collect();
    let text = text.join("\n");
    let text = text.trim();
    let cut = text[..text.floor_char_boundary(BYTES_MAX)].trim_end();
    (!cut.is_empty()).then(|| cut.to_owned())
}

/// The check box of a line: where its mark is, and whether it is ticked. `base` is the line's offset.
pub(crate) fn check_box(line: &str, base: usize) -> Option<(std::ops::Range<usize>, bool)> {
    let found = lines::lines(line, base).into_iter().next()?;
    match found.kind {
        lines::Kind::Item(_, Some(boxed)) => Some((boxed.mark.clone(), boxed.is_ticked())),
        _ => None,
    }
}

/// The id in front of a title, such as `[DB-001]`.
pub(crate) fn title_code(title: &str) -> Option<&str> {
    // `[Backend] BE-001: title` has a tag before the id.
    let tag = title
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let title = match tag {
        Some((tag, rest)) if label::id(tag).0.is_none() => rest,
        _ => title,
    };
    let label = label::item_label(title);
    let (_, id) = label
        .id
        .filter(|(kind, _)| *kind != label::IdKind::Number)?;
    let start = title.find(id.as_str())?;
    title.get(start..start + id.len())
}

/// The check boxes in the body of an issue, and the issues that it names as done before it.
pub(crate) fn issue_body(body: &str, known: &Known) -> (Vec<String>, Vec<String>) {
    let survey = Survey::of(body, 0);
    let boxes = survey.top_boxes();
    let criteria = boxes.map(|(item, _)| survey.outline.item_words(item));
    let criteria = criteria.filter(|words| !words.is_empty()).collect();
    let needs = depends::relations(&survey.outline.lines, known).needs;
    (criteria, needs.into_iter().map(|(id, _)| id).collect())
}
