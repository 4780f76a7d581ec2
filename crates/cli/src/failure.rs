//! How commands end: the exit codes, and what is said when something could not be done.

use std::process::ExitCode;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Finished, but not everything is as it should be.
    Unfinished,
    /// The input was bad.
    BadInput,
    /// Something around us is missing or refused.
    Environment,
    /// A loop waits for a person.
    NeedsHuman,
    /// A bug of ours.
    OurFault,
    /// Somebody asked us to end.
    Interrupted,
    /// The system asked us to end.
    Terminated,
}

impl Exit {
    /// The code as the system takes it.
    pub fn code(self) -> ExitCode {
        ExitCode::from(self.byte())
    }

    /// The code as a number.
    pub(crate) fn number(self) -> i32 {
        i32::from(self.byte())
    }

    fn byte(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unfinished => 1,
            Self::BadInput => 2,
            Self::Environment => 3,
            Self::NeedsHuman => 4,
            Self::OurFault => 70,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The word for it in `--json`.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unfinished => "unfinished",
            Self::BadInput => "bad_input",
            Self::Environment => "environment",
            Self::NeedsHuman => "needs_human",
            Self::OurFault => "our_fault",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
        }
    }
}

/// Why a command could not do its work, and what the person could do.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What happened.
    pub message: String,
    /// What the person could do.
    pub hints: Vec<String>,
}

impl Failure {
    /// What was given cannot be used.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::BadInput,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// Something outside refused; the whole chain of causes is printed, once.
    pub fn environment(attempt: &str, error: &dyn std::error::Error) -> Self {
        Self {
            exit: Exit::Environment,
            message: format!("{attempt}: {}", home::words_of(error)),
            hints: Vec::new(),
        }
    }

    /// Adds what the person could do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}
