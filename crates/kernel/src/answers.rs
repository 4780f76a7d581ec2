//! What a person's answer leads to.

use crate::apply::{Moved, Refused};
use crate::ids::StoryId;
use crate::lane::RunState;
use crate::state::{Choice, Question, State};

impl State {
    /// Takes an answer. Without a story it goes to the only one that asks, or to all that ask the
    /// same.
    pub(crate) fn answer(&mut self, choice: &str, story: Option<&StoryId>) -> Moved {
        let question = self.addressed(story, choice)?;
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
            Some(Choice::Approve) => self.take_approval(id),
            Some(Choice::Reject) => {
                // A person's no is about the work, wherever it stands.
                self.attempt_mut(id)?.judged = None;
                self.reject(id, format!("a person refused it, asked: {}", question.text))
            }
            Some(Choice::Retry) => self.retry_all(&question, None),
            None if question.free => {
                let answer = format!("{}\n{choice}", question.text);
                self.retry_all(&question, Some(&answer))
            }
            None => {
                let words: Vec<&str> = question.choices.iter().map(|offer| offer.word()).collect();
                Err(format!("`{choice}` is none of {}", words.join(", ")).into())
            }
        }
    }

    /// The question that an answer is for. All questions of one story are answered together, so its
    /// first one stands for them.
    fn addressed(&self, story: Option<&StoryId>, choice: &str) -> Result<Question, Refused> {
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
        // Trying again is the same for all of them. What becomes of a story is said story by story.
        let is_for_all = choice == Choice::Cancel.word()
            || (choice != Choice::Skip.word() && questions.iter().all(|one| one.is_like(&first)));
        if asking.len() > 1 && !is_for_all {
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

    /// Tries again what asked, in every story that asked the same.
    fn retry_all(&mut self, question: &Question, answer: Option<&str>) -> Moved {
        let alike = self.open_questions();
        let alike = alike
            .into_iter()
            .filter(|other| other.story == question.story || other.is_like(question));
        let mut stories: Vec<StoryId> = alike.map(|other| other.story).collect();
        stories.dedup();
        for id in stories {
            let answers = &mut self.story_mut(&id)?.answers;
            answers.extend(answer.map(str::to_owned));
            self.retry_asking(&id)?;
        }
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
        self.rejoin_queue(id)
    }
}

impl Question {
    /// Whether one answer can be for both: somebody shall try again what the same thing kept from
    /// being done. A candidate is approved by the name of its story alone.
    fn is_like(&self, other: &Self) -> bool {
        let is_retried = self.choices.contains(&Choice::Retry);
        is_retried && (&self.text, self.free) == (&other.text, other.free)
    }
}
