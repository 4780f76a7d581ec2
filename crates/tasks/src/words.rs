//! The words that claims write into a plan's file, and who puts them right. Everything here is under the
//! store's lock.
//!
//! A claim writes the file's own word for work in progress and keeps the word that stood there. Whoever
//! gives the task back writes that word again, byte by byte. The word of somebody who died is put right
//! by whoever next looks at the store, and never counts as a claim: only the store has claims.

use kernel::WriteBack;
use prd::Mark;

use crate::board::{Status, Task};
use crate::error::TaskError;
use crate::event::Event;
use crate::file_word::FileWord;
use crate::store::{Tasks, View, options};

impl Tasks {
    /// Puts the words right that the dead left in a plan's file. A file that cannot be written stays as
    /// it is: the word counts for nothing.
    pub fn put_right(&self) -> Result<(), TaskError> {
        if self
            .look()?
            .board
            .tasks
            .iter()
            .any(|task| self.is_owed(task))
        {
            let _lock = self.lock()?;
            self.settle_words(&self.look()?);
        }
        Ok(())
    }

    /// Writes all words that are owed; says whether there were any.
    pub(crate) fn settle_words(&self, view: &View) -> bool {
        let owed = view.board.tasks.iter().filter(|task| self.is_owed(task));
        let mut n_owed = 0;
        for task in owed {
            n_owed += 1;
            match &task.status {
                Status::Complete => self.finish_word(view, task),
                _ => take_back(task),
            };
        }
        n_owed > 0
    }

    /// Whether a file still has the word of a claim that does not hold, as far as the store can tell. Of
    /// a complete task that is so if somebody was killed before they wrote it down.
    fn is_owed(&self, task: &Task) -> bool {
        let Some(word) = &task.word else {
            return false;
        };
        match &task.status {
            Status::InProgress(_) | Status::Failed(_) => false,
            Status::Complete => word.file == self.place().graph && !task.is_passed_in_file,
            Status::Ready | Status::Blocked(_) | Status::SetAside(_) => true,
        }
    }

    fn finish_word(&self, view: &View, task: &Task) -> WriteBack {
        let now = prd::status_words(&view.file.reading, &task.id, &options());
        let is_claims = |word: &FileWord| now.is_some_and(|words| words.now == word.claimed);
        if task.word.as_ref().is_some_and(is_claims) {
            return self.write_word(&task.id, Mark::Passed);
        }
        WriteBack::Off
    }

    /// The word that a claim writes. A word that the claim before left in this very file is still to be
    /// followed by what stood there at first; one in another file is put right.
    pub(crate) fn word_of_claim(&self, view: &View, id: &str) -> Option<FileWord> {
        let left = view.board.find(id).and_then(|task| task.word.clone());
        let words = prd::status_words(&view.file.reading, id, &options());
        let file = self.place().graph.clone();
        match (left, words) {
            (Some(left), Some(words)) if left.file == file && left.claimed == words.now => {
                Some(left)
            }
            (left, words) => {
                if let Some(task) = view.board.find(id).filter(|_| left.is_some()) {
                    take_back(task);
                }
                words.map(|words| FileWord {
                    file,
                    before: words.now,
                    claimed: words.in_progress,
                })
            }
        }
    }

    /// Writes that a task is complete, also where its claim was written into another work tree's file.
    pub(crate) fn write_complete(&self, id: &str, word: Option<&FileWord>) -> WriteBack {
        if let Some(word) = word.filter(|word| word.file != self.place().graph) {
            home::write_back(&word.file, id, Mark::Passed);
        }
        self.write_word(id, Mark::Passed)
    }

    /// Writes that a task is open again: with the word that stood there before somebody claimed it,
    /// where that is known.
    pub(crate) fn write_open(&self, id: &str, word: Option<&FileWord>) -> WriteBack {
        let opened = self.write_word(id, Mark::Open);
        let known = word.filter(|word| word.file == self.place().graph);
        if let (WriteBack::Done, Some(word), Ok(view)) = (&opened, known, self.look())
            && let Some(words) = prd::status_words(&view.file.reading, id, &options())
        {
            home::swap_status(&word.file, id, &words.now, &word.before);
        }
        opened
    }

    /// Puts a task's state into the plan's file, in the file's own words.
    fn write_word(&self, id: &str, mark: Mark) -> WriteBack {
        home::write_back(&self.place().graph, id, mark)
    }
}

/// Writes the word again that stood there before the task was claimed.
pub(crate) fn take_back(task: &Task) -> WriteBack {
    match &task.word {
        Some(word) => home::swap_status(&word.file, &task.id, &word.claimed, &word.before),
        None => WriteBack::Off,
    }
}

/// Writes the word of a claim that is recorded.
pub(crate) fn write_claim(id: &str, word: Option<&FileWord>) -> WriteBack {
    match word {
        Some(word) => home::swap_status(&word.file, id, &word.before, &word.claimed),
        None => WriteBack::Off,
    }
}

/// Takes a word back before it is recorded that nobody works on the task: whoever is killed in
/// between leaves the claim of a dead process, and nothing else.
pub(crate) fn free_word(tasks: &[Task], event: &mut Event) {
    let Some((id, owes_word)) = event.frees() else {
        return;
    };
    let task = tasks.iter().find(|task| task.id == id);
    let taken = task.filter(|task| task.status != Status::Complete);
    let taken = taken.map(take_back);
    *owes_word = matches!(taken, Some(WriteBack::LeftAlone { .. }));
}
