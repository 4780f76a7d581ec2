//! One git process that is asked many questions, one after the other.
//!
//! Its answer is read before the next question, so the two sides cannot block each other with full
//! pipes. The process ends when the conversation is dropped, or waits for whoever has the next
//! question where it is left [`Idle`].

use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::error::GitError;
use crate::git::Git;

#[derive(Debug)]
pub(crate) struct Conversation {
    child: Child,
    pub(crate) questions: ChildStdin,
    pub(crate) answers: BufReader<ChildStdout>,
    command: String,
}

impl Conversation {
    pub(crate) fn start(mut git: Git) -> Result<Self, GitError> {
        let command = git.command_line();
        let mut child = git.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(answers), Some(mut stderr)) = pipes else {
            unreachable!("all three pipes were asked for")
        };
        let conversation = Self {
            child,
            questions,
            answers: BufReader::new(answers),
            command,
        };
        // Nobody needs standard error, but a full pipe would block git. The thread ends with the
        // process.
        let started = thread::Builder::new().spawn(move || io::copy(&mut stderr, &mut io::sink()));
        match started {
            Ok(_) => Ok(conversation),
            // Where no thread is to be had, dropping the conversation ends the process.
            Err(error) => Err(conversation.broke(error)),
        }
    }

    pub(crate) fn broke(&self, source: io::Error) -> GitError {
        GitError::Run {
            command: self.command.clone(),
            source,
        }
    }

    pub(crate) fn garbled(&self) -> GitError {
        GitError::Garbled {
            command: self.command.clone(),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // Whatever git wrote is complete once it has answered, so it is safe to kill it between
        // questions; in the middle of one it leaves a temporary file at most.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Room for one process that waits for its next question. To start one costs more than most questions
/// do. It ends with the last owner of the room.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idle(Arc<Mutex<Option<Conversation>>>);

impl Idle {
    /// The process that waits here, for whoever asks first.
    pub(crate) fn take(&self) -> Option<Conversation> {
        self.room().take()
    }

    /// Leaves a process that has answered all its questions. One is enough: a second one ends.
    pub(crate) fn leave(&self, conversation: Conversation) {
        let second = {
            let mut room = self.room();
            match *room {
                Some(_) => Some(conversation),
                None => {
                    *room = Some(conversation);
                    None
                }
            }
        };
        drop(second);
    }

    fn room(&self) -> std::sync::MutexGuard<'_, Option<Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
