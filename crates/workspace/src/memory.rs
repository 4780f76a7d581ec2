//! What git said of objects. An object never changes under its name, so whoever has asked once need
//! not start git again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::GitError;
use crate::loop_repo::LoopRepo;

/// All answers together; beyond that everything is forgotten, which costs a few questions.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// An answer that is longer is not worth its room.
const ANSWER_BYTES_MAX: usize = 512 * 1024;

/// Answers of git, shared by everything that is opened with it.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<Question, Arc<[u8]>>,
    bytes: usize,
}

/// A repository and what it was asked.
type Question = (PathBuf, String);

impl Memory {
    fn recall(&self, question: &Question) -> Option<Arc<[u8]>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .known
            .get(question)
            .cloned()
    }

    fn keep(&self, question: Question, answer: &Arc<[u8]>) {
        if answer.len() > ANSWER_BYTES_MAX {
            return;
        }
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.bytes + answer.len() > BYTES_MAX {
            *answers = Answers::default();
        }
        answers.bytes += answer.len();
        answers.known.insert(question, Arc::clone(answer));
    }
}

impl LoopRepo {
    /// The same repository, with what was asked of it before.
    #[must_use]
    pub fn remembering(mut self, memory: &Memory) -> Self {
        self.memory = memory.clone();
        self
    }

    /// Asks git about objects that are named by their ids, and by nothing that can move.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<Arc<[u8]>, GitError> {
        let question = (Path::to_owned(self.path()), words.join("\n"));
        if let Some(answer) = self.memory.recall(&question) {
            return Ok(answer);
        }
        let answer: Arc<[u8]> = self.git().args(words).run()?.into();
        self.memory.keep(question, &answer);
        Ok(answer)
    }

    /// The same where the answer is one line.
    pub(crate) fn ask_line(&self, words: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.ask(words)?)
            .trim_end()
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(number: usize) -> Question {
        (PathBuf::from("repo"), number.to_string())
    }

    #[test]
    fn an_answer_is_known_and_memory_is_bounded() {
        let memory = Memory::default();
        let answer: Arc<[u8]> = vec![0; ANSWER_BYTES_MAX].into();
        for number in 0..100 {
            memory.keep(question(number), &answer);
            assert!(memory.recall(&question(number)).is_some());
            assert!(memory.0.lock().expect("whole").bytes <= BYTES_MAX);
        }
        assert!(
            memory.recall(&question(0)).is_none(),
            "it was forgotten to make room"
        );
        let long: Arc<[u8]> = vec![0; ANSWER_BYTES_MAX + 1].into();
        memory.keep(question(1000), &long);
        assert!(memory.recall(&question(1000)).is_none());
        let elsewhere = (PathBuf::from("other"), "99".to_owned());
        assert!(
            memory.recall(&elsewhere).is_none(),
            "each repository speaks for itself"
        );
    }
}
