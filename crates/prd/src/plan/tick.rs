//! Which bytes of a plan change when a story gets another state: the author's own marks and no
//! others.

use std::ops::Range;

use super::boxes::CheckBox;
use super::draft::{Sign, Site};
use super::{Plan, Unmarkable};
use crate::letter_case::in_case_of;
use crate::story::StoryState;

/// Bytes of the file, and what takes their place.
pub(crate) type Change = (Range<usize>, String);

/// The changes that give a story its new state.
pub(super) fn changes(
    plan: &Plan,
    index: usize,
    mark: StoryState,
    text: &str,
) -> Result<Vec<Change>, Unmarkable> {
    let story = &plan.stories[index];
    if story.state == mark {
        return Ok(Vec::new());
    }
    if story.sites.is_empty() {
        return Err(Unmarkable::NoPlace);
    }
    let has_word = story
        .sites
        .iter()
        .any(|site| matches!(site, Site::Word(..)));
    if mark == StoryState::Skipped && !has_word {
        return Err(Unmarkable::OnlyDone);
    }
    let mut edits: Vec<Change> = story
        .sites
        .iter()
        .filter_map(|site| edit(plan, site, mark, text))
        .collect();
    edits.extend(groups(plan, index, mark));
    Ok(edits)
}

fn edit(plan: &Plan, site: &Site, mark: StoryState, text: &str) -> Option<Change> {
    let passed = mark == StoryState::Passed;
    match site {
        Site::Box(at, ticked) if *ticked != passed => Some(tick(plan, at, passed)),
        Site::Word(at, state) if *state != mark => {
            let old = &text[at.clone()];
            let word = match plan.words.get(&mark) {
                Some(word) => word.clone(),
                None => in_case_of(old, usual_word(mark)),
            };
            // An empty cell has no blank behind the word yet.
            let blank = if at.is_empty() { " " } else { "" };
            Some((at.clone(), word + blank))
        }
        Site::Sign(Sign::There(at)) if !passed => Some((at.clone(), String::new())),
        Site::Sign(Sign::Missing(at, sign)) if passed => Some((*at..*at, (*sign).to_owned())),
        Site::Box(..) | Site::Word(..) | Site::Sign(_) => None,
    }
}

fn tick(plan: &Plan, at: &Range<usize>, passed: bool) -> Change {
    let mark = if passed { plan.tick.as_str() } else { " " };
    (at.clone(), mark.to_owned())
}

fn usual_word(mark: StoryState) -> &'static str {
    match mark {
        StoryState::Passed => "done",
        StoryState::Skipped => "skipped",
        _ => "pending",
    }
}

/// The boxes of the groups that a numbered box belongs to: one is ticked along with the last of its
/// children, and opened again with any of them.
fn groups(plan: &Plan, index: usize, mark: StoryState) -> Vec<Change> {
    let mut edits = Vec::new();
    let mut here = plan.items[index];
    while let Some(parent) = here.and_then(|item| plan.parents.get(item).copied().flatten()) {
        let is_last = || {
            let children = plan.parents.iter().enumerate();
            let mut others =
                children.filter(|(item, above)| **above == Some(parent) && Some(*item) != here);
            others.all(|(item, _)| plan.boxes[item].as_ref().is_none_or(CheckBox::is_ticked))
        };
        let passed = mark == StoryState::Passed;
        let Some(boxed) = plan.boxes[parent].as_ref() else {
            break;
        };
        if passed && !is_last() {
            break;
        }
        if boxed.is_ticked() != passed {
            edits.push(tick(plan, &boxed.mark, passed));
        }
        here = Some(parent);
    }
    edits
}

/// The words for states that a plan uses most, by state.
pub(super) fn words(
    sites: impl Iterator<Item = (StoryState, String)>,
) -> std::collections::HashMap<StoryState, String> {
    let mut counts: std::collections::BTreeMap<(String, &'static str), (StoryState, usize)> =
        std::collections::BTreeMap::new();
    for (state, word) in sites {
        counts.entry((word, state.word())).or_insert((state, 0)).1 += 1;
    }
    let mut best: std::collections::HashMap<StoryState, (String, usize)> =
        std::collections::HashMap::new();
    for ((word, _), (state, count)) in counts {
        let entry = best.entry(state).or_insert_with(|| (word.clone(), 0));
        if count > entry.1 {
            *entry = (word, count);
        }
    }
    best.into_iter()
        .map(|(state, (word, _))| (state, word))
        .collect()
}
