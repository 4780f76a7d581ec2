//! A cache of git's answers about objects. An object's content never changes under its id, so no
//! answer goes stale, and each one saves a process.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::entry::Entries;
use crate::error::GitError;
use crate::id::TreeId;
use crate::loop_repo::LoopRepo;
use crate::seal::Seal;

/// The size of all answers together. When it is exceeded, the whole cache is dropped: that costs a
/// few processes and needs no record of which answer is oldest.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// A longer answer is not cached, or one of them could push out everything else.
const ANSWER_BYTES_MAX: usize = 512 * 1024;

/// How many trees are kept as they were listed, and how many entries they may have together.
const TREES_MAX: usize = 16;
const ENTRIES_MAX: usize = 600_000;

/// A cache of git's answers, shared by all repositories that were opened with it.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<Question, Arc<[u8]>>,
    bytes: usize,
    /// The trees that were listed last, the oldest first.
    trees: VecDeque<(Question, Arc<Entries>)>,
    /// The places whose seal was looked at: which seal, and when.
    sealed: BTreeMap<PathBuf, (Seal, Instant)>,
}

/// For how long a seal is believed without another look, which takes time in proportion to the tree.
/// No run can write below its layers, so this is about other programs of the machine only; and whoever
/// measures is a process of its own, with a memory of its own.
const SEAL_AGE_MAX: Duration = Duration::from_mins(1);

/// A repository and the arguments of the call.
type Question = (PathBuf, String);

impl Memory {
    /// Whether a place with this seal was found whole a short time ago.
    pub(crate) fn was_whole(&self, place: &Path, seal: Seal) -> bool {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let looked = answers.sealed.get(place);
        looked.is_some_and(|(known, at)| *known == seal && at.elapsed() < SEAL_AGE_MAX)
    }

    pub(crate) fn note_whole(&self, place: &Path, seal: Seal) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sealed = &mut answers.sealed;
        sealed.retain(|_, (_, at)| at.elapsed() < SEAL_AGE_MAX);
        sealed.insert(place.to_owned(), (seal, Instant::now()));
    }

    /// The entries of a tree that was listed before.
    pub(crate) fn recall_tree(&self, repository: &Path, id: &str) -> Option<Arc<Entries>> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(known, _): &(Question, Arc<Entries>)| known.0 == repository && known.1 == id;
        let index = answers.trees.iter().position(is_it)?;
        let found = answers.trees.remove(index)?;
        let entries = Arc::clone(&found.1);
        answers.trees.push_back(found);
        Some(entries)
    }

    /// The tree of a repository that was asked for last, with its entries.
    pub(crate) fn latest_tree(&self, repository: &Path) -> Option<(TreeId, Arc<Entries>)> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut latest = answers.trees.iter().rev();
        let ((_, id), entries) = latest.find(|((known, _), _)| known == repository)?;
        // A commit stands for its tree here as everywhere.
        Some((TreeId::parse(id).ok()?, Arc::clone(entries)))
    }

    /// Keeps the entries of a tree. One step asks for those of the same few trees again and again, and
    /// reading a listing takes longer than git needs to write it.
    pub(crate) fn keep_tree(&self, repository: &Path, id: &str, entries: &Arc<Entries>) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let question = (repository.to_owned(), id.to_owned());
        answers.trees.push_back((question, Arc::clone(entries)));
        let total = |trees: &VecDeque<(Question, Arc<Entries>)>| {
            trees
                .iter()
                .map(|(_, entries)| entries.len())
                .sum::<usize>()
        };
        while answers.trees.len() > TREES_MAX || total(&answers.trees) > ENTRIES_MAX {
            answers.trees.pop_front();
        }
    }

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
            answers.known = BTreeMap::new();
            answers.bytes = 0;
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
        self.remember(words, || self.git().args(words).run())
    }

    /// The cached answer to a question, or the one that is found now.
    pub(crate) fn remember(
        &self,
        words: &[&str],
        find: impl FnOnce() -> Result<Vec<u8>, GitError>,
    ) -> Result<Arc<[u8]>, GitError> {
        let question = (Path::to_owned(self.path()), words.join("\n"));
        if let Some(answer) = self.memory.recall(&question) {
            return Ok(answer);
        }
        // The cache is not locked while git runs, so that one slow answer holds up nobody else.
        let answer: Arc<[u8]> = find()?.into();
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
