//! A cache of git's answers about objects. An object's content never changes under its id, so no
//! answer goes stale, and each one saves a process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::GitError;
use crate::loop_repo::LoopRepo;

/// The size of all answers together. When it is exceeded, the whole cache is dropped: that costs a
/// few processes and needs no record of which answer is oldest.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// A longer answer is not cached, or one of them could push out everything else.
const ANSWER_BYTES_MAX: usize = 512 * 1024;

/// A cache of git's answers, shared by all repositories that were opened with it.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<Question, Arc<[u8]>>,
    bytes: usize,
}

/// A repository and the arguments of the call.
type Question = (PathBuf, String);

impl Memory {
    fn recall(&self, question: &Question) -> Option<Arc<[u8]>> {
        // A panic elsewhere cannot leave the cache half-written, so a poisoned lock is still good.
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
        // If two callers store the same answer, its size counts twice. Then the cache is only
        // dropped earlier.
        answers.bytes += answer.len();
        answers.known.insert(question, Arc::clone(answer));
    }
}

impl LoopRepo {
    /// The same repository, with `memory` as its cache.
    #[must_use]
    pub fn remembering(mut self, memory: &Memory) -> Self {
        self.memory = memory.clone();
        self
    }

    /// Runs git with these arguments, or returns the cached answer. The arguments must name objects
    /// by id only: a ref can move, and its answer would go stale.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<Arc<[u8]>, GitError> {
        let question = (Path::to_owned(self.path()), words.join("\n"));
        if let Some(answer) = self.memory.recall(&question) {
            return Ok(answer);
        }
        // The cache is not locked while git runs, so that one slow answer holds up nobody else.
        let answer: Arc<[u8]> = self.git().args(words).run()?.into();
        self.memory.keep(question, &answer);
        Ok(answer)
    }

    /// Like [`LoopRepo::ask`], for an answer of one line.
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
