//! Lets implementors end in the order that a case gives. It looks at the journal alone, as the worker
//! does: an agent may end when the one before it is settled and every other one that may already run
//! has begun.

use std::fs;
use std::path::{Path, PathBuf};

use journal::Journal;
use kernel::{Deed, State, Step, decide};

/// The turnstile of one play.
pub(super) struct Turnstile {
    /// Story and attempt, in the order in which they may end.
    order: Vec<(String, u32)>,
    marks: PathBuf,
    state_folder: PathBuf,
    journal: Option<Journal>,
    /// The loop as it was when the journal last changed.
    seen: Option<(i64, State)>,
    n_let_through: usize,
}

impl Turnstile {
    /// A turnstile with marks in a folder that the agents look into.
    pub(super) fn new(order: &[String], marks: &Path, state_folder: &Path) -> Self {
        let entry = |entry: &String| {
            let (story, attempt) = entry.split_once('#').unwrap_or((entry, "1"));
            (story.to_owned(), attempt.parse().expect("an attempt"))
        };
        let order: Vec<(String, u32)> = order.iter().map(entry).collect();
        fs::create_dir_all(marks).expect("a folder for marks");
        for (story, attempt) in &order {
            fs::write(marks.join(format!("{story}#{attempt}.listed")), "").expect("written");
        }
        Self {
            order,
            marks: marks.to_owned(),
            state_folder: state_folder.to_owned(),
            journal: None,
            seen: None,
            n_let_through: 0,
        }
    }

    /// Looks whether the next one may end.
    pub(super) fn look(&mut self) {
        if self.n_let_through == self.order.len() || !self.has_seen() {
            return;
        }
        while self.n_let_through < self.order.len() && self.may_end() {
            let (story, attempt) = &self.order[self.n_let_through];
            let mark = self.marks.join(format!("{story}#{attempt}.may-end"));
            fs::write(mark, "").expect("written");
            self.n_let_through += 1;
        }
    }

    /// Reads the journal, if it has changed; says whether there is a loop.
    fn has_seen(&mut self) -> bool {
        if self.journal.is_none() && self.state_folder.join("journal.db").exists() {
            self.journal = Journal::open(&self.state_folder).ok();
        }
        let Some(journal) = &self.journal else {
            return false;
        };
        let mark = journal.change_mark().expect("a journal");
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != mark)
            && let Some(row) = journal.loops().expect("loops").pop()
            && let Ok(loaded) = home::load(journal, &row.loop_id)
        {
            self.seen = Some((mark, loaded.state));
        }
        self.seen.is_some()
    }

    fn may_end(&self) -> bool {
        let Some((_, state)) = &self.seen else {
            return false;
        };
        let before = self.n_let_through.checked_sub(1).map(|at| &self.order[at]);
        let is_settled = before.is_none_or(|entry| is_settled(state, entry));
        let begins = |deed: &Deed| matches!(deed, Deed::Plan(_));
        let nobody_begins = !decide(state).iter().any(|order| begins(&order.deed));
        let has_begun = |entry: &(String, u32)| {
            let (story, attempt) = entry;
            let is_under_way = state
                .attempt(story)
                .is_some_and(|active| active.number == *attempt);
            let mark = self.marks.join(format!("{story}#{attempt}.begun"));
            !is_under_way || mark.exists()
        };
        let (story, attempt) = &self.order[self.n_let_through];
        let own = self.marks.join(format!("{story}#{attempt}.begun"));
        is_settled && nobody_begins && own.exists() && self.order.iter().all(has_begun)
    }
}

/// Whether an attempt has landed, was sent back or rejected, or asks.
fn is_settled(state: &State, (story, attempt): &(String, u32)) -> bool {
    let asks = || {
        state
            .questions()
            .iter()
            .any(|asked| *asked.story == **story)
    };
    let Some(progress) = state.story(story) else {
        return true;
    };
    let is_over = match progress.attempt() {
        Some(active) => {
            active.number != *attempt
                || active.has_landed()
                || matches!(active.step, Step::Announce { .. } | Step::Rejected)
        }
        None => true,
    };
    progress.attempts >= *attempt && (is_over || asks())
}
