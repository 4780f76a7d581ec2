//! What happens in a play, in the words that scenarios use: each record and what it leads to. Runs and
//! people wait for such words, and what is expected is said in them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use kernel::{Attempt, Event, RunKey, RunOutcome, State};

use crate::memory::lock;

/// Everything that has happened so far, in order.
#[derive(Default)]
pub(crate) struct Marks {
    words: Mutex<Vec<String>>,
    /// The commit that the first PASS on each story was about.
    judged: Mutex<BTreeMap<String, String>>,
}

impl Marks {
    /// Notes what a record led to.
    pub(crate) fn note(&self, event: &Event, before: &State, after: &State) {
        if let Event::RunEnded {
            run,
            outcome: RunOutcome::Judged(verdict),
            ..
        } = event
            && verdict.pass
        {
            let mut judged = lock(&self.judged);
            let first = judged.entry(run.story.to_string());
            first.or_insert_with(|| verdict.commit.to_string());
        }
        lock(&self.words).extend(words_of(event, before, after));
    }

    pub(crate) fn all(&self) -> Vec<String> {
        lock(&self.words).clone()
    }

    /// Whether all of these have happened: `A; B`.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        let words = lock(&self.words);
        let mut wanted = wanted.split("; ");
        wanted.all(|one| words.iter().any(|word| word == one))
    }

    /// The commit that the first PASS on a story was about.
    pub(crate) fn judged(&self, story: &str) -> Option<String> {
        lock(&self.judged).get(story).cloned()
    }
}

/// A run as scenarios name it.
pub(crate) fn run_name(run: &RunKey) -> String {
    format!(
        "{} {} {}-{}",
        run.story,
        run.attempt,
        run.stage.word(),
        run.try_number
    )
}

fn words_of(event: &Event, before: &State, after: &State) -> Vec<String> {
    let mut words = Vec::new();
    match event {
        Event::RunStarted { run } => words.push(format!("{} started", run_name(run))),
        Event::RunEnded { run, .. } => words.push(format!("{} ended", run_name(run))),
        Event::Restacked { story, .. } => words.push(format!("{story} restacked")),
        Event::Integrated { story, .. } => words.push(format!("{story} landed")),
        Event::Retracted { story, .. } => words.push(format!("{story} retracted")),
        Event::Announced { story, .. } => words.push(format!("{story} passed")),
        Event::StorySkipped { story, .. } => words.push(format!("{story} skipped")),
        Event::LoopEnded { .. } => words.push("the end".to_owned()),
        Event::PauseRequested => words.push("the pause".to_owned()),
        Event::Reloaded { .. } => words.push("the reload".to_owned()),
        _ => {}
    }
    for story in after.stories() {
        let id = &story.spec.id;
        let was = before.story(id);
        let is_queued = |state: &State| state.attempt(id).is_some_and(Attempt::is_queued);
        if is_queued(after) && !is_queued(before) {
            words.push(format!("{id} queued"));
        }
        if story.former != was.and_then(|was| was.former) {
            words.push(format!("{id} sent back {}", story.returns));
        }
        let asks = |state: &State| state.questions().iter().any(|one| one.story == *id);
        if asks(after) && !asks(before) {
            words.push(format!("{id} asks"));
        }
        let waits = |state: &State| state.waits().iter().any(|one| one.run.story == *id);
        if waits(after) && !waits(before) {
            words.push(format!("{id} waits"));
        }
    }
    words
}
