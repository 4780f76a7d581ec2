//! The questions of a story and what became of them, from its first record to its last.

use kernel::{Event, Stage, Stamped, State};

use crate::report_types::AskedReport;

/// The questions so far, and which of them are open.
#[derive(Default)]
pub(crate) struct Asked {
    all: Vec<AskedReport>,
    open: Vec<usize>,
}

impl Asked {
    /// Takes in what one record asked or answered. All open questions of a story are answered together.
    pub(crate) fn take(&mut self, record: &Stamped, story: &str, next: &State) {
        let mut asked: Vec<AskedReport> = next
            .questions()
            .into_iter()
            .filter(|question| question.story == *story)
            .map(|question| {
                let attempt = next.attempt(story);
                let agent = question
                    .stage
                    .and_then(|stage| attempt.and_then(|attempt| attempt.agent(stage)));
                AskedReport {
                    attempt: attempt.map_or(0, |attempt| attempt.number),
                    stage: question.stage.map(Stage::word),
                    agent: agent.map(ToString::to_string),
                    asked_at_ms: record.at_ms,
                    text: question.text,
                    answer: None,
                    answered_at_ms: None,
                    is_open: true,
                }
            })
            .collect();
        let all = &mut self.all;
        self.open.retain(|at| {
            let one = &mut all[*at];
            if let Some(still) = asked.iter().position(|other| one.is_same(other)) {
                asked.remove(still);
                return true;
            }
            one.is_open = false;
            if let Event::Answered { choice, .. } = &record.event {
                one.answer = Some(choice.clone());
                one.answered_at_ms = Some(record.at_ms);
            }
            false
        });
        for new in asked {
            self.open.push(self.all.len());
            self.all.push(new);
        }
    }

    pub(crate) fn into_reports(self) -> Vec<AskedReport> {
        self.all
    }
}

impl AskedReport {
    fn is_same(&self, other: &Self) -> bool {
        (self.attempt, self.stage, &self.text) == (other.attempt, other.stage, &other.text)
    }
}
