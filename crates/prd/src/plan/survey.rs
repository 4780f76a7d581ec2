//! Everything that the choice of the stories depends on: the labels of headings and boxes, which
//! boxes stand inside others, which belong to a legend.

use super::depends::is_dependency_line;
use super::label::{IdKind, Label, heading_label, item_label};
use super::lines::Kind;
use super::outline::Outline;
use super::words::{LEGEND, STATUS, after_label, bare_word, state_of};
use crate::story::StoryState;

/// A text with what its headings and boxes say.
#[derive(Debug)]
pub(super) struct Survey<'s> {
    pub(super) outline: Outline<'s>,
    /// The label of every heading.
    pub(super) heads: Vec<Label>,
    /// The label of every item that has a box and is no part of a legend.
    pub(super) boxes: Vec<Option<Label>>,
    /// For every item, the nearest item around it that has a box.
    pub(super) box_around: Vec<Option<usize>>,
}

/// A word for a state in a line such as `**Status:** done`.
#[derive(Debug, Clone)]
pub(super) struct StatusWord {
    pub(super) line: usize,
    pub(super) at: std::ops::Range<usize>,
    pub(super) state: StoryState,
}

impl<'s> Survey<'s> {
    pub(super) fn of(text: &'s str, base: usize) -> Self {
        let outline = Outline::of(text, base);
        let heads = outline.heads.iter().map(|head| {
            let line = &outline.lines[head.line];
            heading_label(line.words(), line.words_start())
        });
        let heads: Vec<Label> = heads.collect();
        let legend = legend(&outline);
        let boxes = outline.items.iter().zip(legend).enumerate();
        let boxes = boxes.map(|(item, (found, is_legend))| {
            let is_box = outline.boxed(item).is_some() && !is_legend;
            is_box.then(|| item_label(outline.lines[found.line].words()))
        });
        let boxes: Vec<Option<Label>> = boxes.collect();
        let mut box_around: Vec<Option<usize>> = Vec::with_capacity(boxes.len());
        for item in &outline.items {
            let around = item.parent.and_then(|parent| match boxes[parent] {
                Some(_) => Some(parent),
                None => box_around[parent],
            });
            box_around.push(around);
        }
        Self {
            outline,
            heads,
            boxes,
            box_around,
        }
    }

    /// All boxes, as indexes of items.
    pub(super) fn all_boxes(&self) -> impl Iterator<Item = (usize, &Label)> {
        let labels = self.boxes.iter().enumerate();
        labels.filter_map(|(item, label)| Some((item, label.as_ref()?)))
    }

    /// The boxes that stand in no other.
    pub(super) fn top_boxes(&self) -> impl Iterator<Item = (usize, &Label)> {
        self.all_boxes()
            .filter(|(item, _)| self.box_around[*item].is_none())
    }

    /// The boxes in a heading's section.
    pub(super) fn boxes_of_head(&self, head: usize) -> impl Iterator<Item = usize> {
        let head = &self.outline.heads[head];
        let within = self.outline.items_within(head.line + 1..head.end);
        within.filter(|item| self.boxes[*item].is_some())
    }

    /// The lines under a heading up to the next one of any level.
    pub(super) fn own_lines(&self, head: usize) -> std::ops::Range<usize> {
        let next = self.outline.heads.get(head + 1);
        let end = next.map_or(self.outline.lines.len(), |next| next.line);
        self.outline.heads[head].line + 1..end
    }

    /// The line that says a heading's state in a word.
    pub(super) fn status(&self, head: usize) -> Option<StatusWord> {
        self.own_lines(head).find_map(|index| {
            let line = &self.outline.lines[index];
            if !matches!(line.kind, Kind::Text(_) | Kind::Item(_, None)) {
                return None;
            }
            let words = line.words();
            let rest = after_label(words, STATUS)?;
            let start = line.words_start() + words.len() - rest.len();
            let (word, state) = status_word(rest)?;
            let from = start + rest.find(word)?;
            Some(StatusWord {
                line: index,
                at: from..from + word.len(),
                state,
            })
        })
    }

    /// Says whether the lines right under a heading name dependencies.
    pub(super) fn names_dependencies(&self, head: usize) -> bool {
        self.own_lines(head)
            .any(|line| is_dependency_line(&self.outline.lines[line]))
    }

    /// The text at a place in the file.
    pub(super) fn text_at(&self, place: std::ops::Range<usize>) -> &'s str {
        let index = self
            .outline
            .lines
            .partition_point(|line| line.start <= place.start);
        let line = &self.outline.lines[index.saturating_sub(1)];
        line.text
            .get(place.start - line.start..place.end - line.start)
            .unwrap_or_default()
    }

    pub(super) fn head_kind(&self, head: usize) -> Option<IdKind> {
        self.heads[head].kind()
    }
}

/// The word that says a state, and the state: the whole text, or what stands before a bracket, a
/// comma or a dash.
pub(super) fn status_word(text: &str) -> Option<(&str, StoryState)> {
    let ends = ["(", ",", " - ", " – ", " — ", ";", "|", "（"];
    let cuts = ends.iter().filter_map(|end| text.find(end));
    let first = &text[..cuts.min().unwrap_or(text.len())];
    // A sign beside the word belongs to it: `✅ Complete`.
    let word =
        first.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '[' | ']'));
    state_of(word)
        .map(|state| (word, state))
        .filter(|_| !word.is_empty())
}

/// Which items belong to a legend, where boxes only show what the marks mean.
fn legend(outline: &Outline<'_>) -> Vec<bool> {
    let mut legend = vec![false; outline.items.len()];
    let is_legend = |words: &str| {
        let word = bare_word(words).to_lowercase();
        LEGEND.contains(&word.as_str()) || word.ends_with(" legend")
    };
    let boxed: Vec<usize> = (0..outline.items.len())
        .filter(|item| outline.boxed(*item).is_some())
        .collect();
    // A run is a list without anything in between.
    for run in boxed.chunk_by(|a, b| outline.items[*b].line <= outline.items[*a].end) {
        let Some(&first) = run.first() else { continue };
        let item = &outline.items[first];
        let under = item
            .head
            .is_some_and(|head| is_legend(outline.head_words(head)));
        let before = outline.lines[..item.line].iter().rev();
        let after_label = before
            .take_while(|line| !matches!(line.kind, Kind::Heading(..)))
            .find(|line| line.kind != Kind::Blank)
            .is_some_and(|line| matches!(line.kind, Kind::Text(_)) && is_legend(line.words()));
        let explains = |item: &usize| {
            let words = outline.lines[outline.items[*item].line].words();
            words.starts_with(['=', '→', ':']) || state_of(words).is_some()
        };
        if under || after_label || (run.len() > 1 && run.iter().all(explains)) {
            for item in run {
                legend[*item] = true;
            }
        }
    }
    legend
}
