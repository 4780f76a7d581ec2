//! What a person's answer leads to.

use crate::apply::{Moved, Refused};
use crate::attempt::{RunState, Step};
use crate::ids::StoryId;
use crate::state::{Choice, Question, State};

impl State {
    /// Takes an answer. Without a story it goes to the only one that asks.
    pub(crate) fn answer(&mut self, choice: &str, story: Option<&StoryId>) -> Moved {
        let question = self.addressed(story)?;
        let id = &question.story;
        let chosen = question
            .choices
            .iter()
            .copied()
            .find(|offered| offered.word() == choice);
        match chosen {
            Some(Choice::Cancel) => {
                self.cancel = Some("cancelled by an answer".to_owned());
                Ok(())
            }
            Some(Choice::Skip) => self.skip_asking(&question),
            Some(Choice::Approve) => self.approve(id),
            Some(Choice::Reject) => {
                self.reject(id, format!("a person refused it, asked: {}", question.text))
            }
            Some(Choice::Retry) => self.retry_asking(id),
            None if question.free => {
                let answer = format!("{}\n{choice}", question.text);
                self.story_mut(id)?.answers.push(answer);
                self.retry_asking(id)
            }
            None => {
                let words: Vec<&str> = question.choices.iter().map(|offer| offer.word()).collect();
                Err(format!("`{choice}` is none of {}", words.join(", ")).into())
            }
        }
    }

    /// The question that an answer is for. All questions of one story are answered together, so its
    /// first one stands for them.
    fn addressed(&self, story: Option<&StoryId>) -> Result<Question, Refused> {
        let mut questions = self.open_questions();
        if let Some(story) = story {
            questions.retain(|question| question.story == *story);
        }
        let Some(first) = questions.first().cloned() else {
            return Err(match story {
                Some(story) => format!("story `{story}` asks nothing").into(),
                None => "nobody asked".into(),
            });
        };
        let mut asking: Vec<&str> = questions.iter().map(|one| one.story.as_str()).collect();
        asking.dedup();
        if asking.len() > 1 {
            return Err(format!("several stories ask: {}; name one", asking.join(", ")).into());
        }
        Ok(first)
    }

    fn skip_asking(&mut self, question: &Question) -> Moved {
        let id = &question.story;
        let attempt = self.attempt_mut(id)?;
        let is_busy = attempt
            .lanes()
            .iter()
            .any(|lane| matches!(lane.run.state, RunState::Running { .. }));
        if is_busy {
            // Giving the story up now would leave a run without anybody who waits for its end.
            return Err("another run of the story is under way; cancel, or wait for it".into());
        }
        self.give_up(
            id,
            format!("set aside by a person, asked: {}", question.text),
        )
    }

    fn approve(&mut self, id: &StoryId) -> Moved {
        let attempt = self.attempt_mut(id)?;
        let Step::Approve { candidate, .. } = &attempt.step else {
            return Err("nothing is to be approved".into());
        };
        attempt.step = Step::Integrate {
            candidate: candidate.clone(),
        };
        Ok(())
    }

    fn retry_asking(&mut self, id: &StoryId) -> Moved {
        let attempt = self.attempt_mut(id)?;
        attempt.hindered = None;
        for lane in attempt.lanes_mut() {
            if matches!(lane.run.state, RunState::Asking { .. }) {
                lane.run = lane.run.again();
            }
        }
        Ok(())
    }
}
