//! Turns what a test writer left into the tests of a story, or says why it cannot be used.
//!
//! It may be run twice: what the writer left has a ref of its own, and the same files give the same
//! commit.

use kernel::{Attempt, Commit, Event, Stage, StoryProgress, TestsOrder};
use workspace::{Overlay, TreeId};

use crate::candidate::{Landed, Making, NOTES_MAX, reference, tests_tree, words};
use crate::rules::{TestRules, read_text};
use crate::worker::Worker;

impl Worker {
    /// Turns what the test writer left into a commit on the story's base.
    pub(crate) fn make_tests(&self, loop_id: &str, id: &str, attempt: u32) -> Landed {
        let making = self.making(loop_id)?;
        let (story, active) = making.state.active().ok_or("no story is being worked on")?;
        let checkout = self.last_checkout(loop_id, making.state, id, attempt, Stage::WriteTests)?;
        // Each time that tests are asked for is one more of these, whether they could be used or
        // not.
        let name = reference("written", id, &(story.rewrites + 1).to_string());
        let Some(left) =
            making.left_behind(active, &name, &checkout, &format!("written: {id}\n"))?
        else {
            return Ok(Some(refused(
                id,
                attempt,
                "the test writer left no checkout behind",
            )));
        };
        self.retire(loop_id, &checkout);
        making.tests_event(story, active, &left.tree).map(Some)
    }
}

impl Making<'_> {
    fn tests_event(
        &self,
        story: &StoryProgress,
        active: &Attempt,
        left: &TreeId,
    ) -> Result<Event, String> {
        let (id, attempt) = (story.spec.id.as_str(), active.number);
        let (base, base_tree) = self.base_of(active)?;
        let rules = TestRules::of(&self.repository, &self.settings, &base_tree)?;
        let overlay = self.over(&base_tree, &base_tree, left, &rules)?;
        if overlay.writer_files.is_empty() {
            // Of every criterion it must say so, else one that nobody speaks of would be proven by
            // nothing.
            let says_so = |review: &kernel::Review| {
                review.nothing_is_testable() && review.criteria.len() >= story.spec.criteria.len()
            };
            let testable = !active.written.as_ref().is_some_and(says_so);
            if testable {
                let why = format!(
                    "no test file was added or changed; tests belong into {}",
                    rules.words()
                );
                return Ok(refused(id, attempt, &why));
            }
            let notes =
                vec!["the reviewer says that no criterion can be tested by a machine".to_owned()];
            return Ok(Event::TestsMade {
                story: id.to_owned(),
                attempt,
                commit: None,
                notes,
            });
        }
        if let Some(why) = self.unusable(story, &overlay)? {
            return Ok(refused(id, attempt, &why));
        }
        let round = story.tests.as_ref().map_or(0, |tests| tests.round) + 1;
        let message = format!(
            "test: [{}] [{id}] round-{round}\n",
            self.state.spec().loop_id
        );
        let made =
            self.repository
                .commit(&overlay.tree, &base, &message, active.planned_at_ms / 1000);
        let made = made.map_err(words)?;
        let name = reference("tests", id, &round.to_string());
        self.repository
            .move_ref(&name, None, &made)
            .map_err(words)?;
        let dropped = overlay.dropped.iter().take(NOTES_MAX);
        let notes = dropped.map(|path| {
            format!(
                "the test writer's change to `{}` was dropped",
                path.display()
            )
        });
        let notes = notes.collect();
        let commit = Some(Commit::new(made.as_str()).map_err(words)?);
        Ok(Event::TestsMade {
            story: id.to_owned(),
            attempt,
            commit,
            notes,
        })
    }

    /// Why tests cannot be used, whatever they would show.
    fn unusable(&self, story: &StoryProgress, overlay: &Overlay) -> Result<Option<String>, String> {
        let reader = self.repository.reader(&overlay.tree).map_err(words)?;
        for path in &overlay.writer_files {
            let text = read_text(&reader, path);
            if let Some(why) = checks::rules::reads_source_text(&path.to_string_lossy(), &text) {
                return Ok(Some(format!(
                    "`{}` looks at source text and not at behaviour: {why}",
                    path.display()
                )));
            }
        }
        let (Some(TestsOrder::Repair(_)), Some(before)) =
            (&story.tests_order, tests_tree(&self.repository, story)?)
        else {
            return Ok(None);
        };
        let old = self.repository.reader(&before).map_err(words)?;
        let count = |reader: &workspace::TreeReader| -> usize {
            overlay
                .writer_files
                .iter()
                .map(|path| assertions(&read_text(reader, path)))
                .sum()
        };
        let fewer = count(&reader) < count(&old);
        Ok(fewer.then(|| {
            "a repair may change imports and calls, and it took assertions away".to_owned()
        }))
    }
}

/// Lines that say what must be.
fn assertions(text: &str) -> usize {
    let says = [
        "assert", "expect", "should", "is(", "ok(", "raises", "throws",
    ];
    text.lines()
        .filter(|line| says.iter().any(|word| line.contains(word)))
        .count()
}

fn refused(story: &str, attempt: u32, why: &str) -> Event {
    Event::TestsRefused {
        story: story.to_owned(),
        attempt,
        why: why.to_owned(),
    }
}
