//! Any program: it reads its task from standard input, prints its answer, and reports success or
//! failure by its exit code.

use crate::exit::{Ended, Exit};
use crate::facts::{Facts, LoginCheck, Sessions};
use crate::outcome::Outcome;
use crate::spec::{CommandSpec, StopSignal, Task};

/// Exit code of a program that wants to be tried again later (`EX_TEMPFAIL` of `sysexits.h`).
const TRY_LATER: i32 = 75;
/// Exit code of a program that is not logged in (`EX_NOPERM` of `sysexits.h`).
const NOT_LOGGED_IN: i32 = 77;

/// How much of the output is kept, counted from its end, because a verdict comes last.
const TAIL_BYTES: usize = 256 * 1024;

pub(crate) fn facts() -> Facts {
    Facts {
        name: "command",
        program: "",
        stop_signal: StopSignal::Term,
        wall_secs: 20 * 60,
        idle_secs: 20 * 60,
        family: None,
        sessions: Sessions::None,
        takes_schema: false,
        tells_cost: false,
        executes: &[],
        tried: None,
        known_bad: &[],
        version_args: &[],
        login: LoginCheck::Unknown,
        hosts: crate::facts::MODEL_HOSTS,
        gateways: &[],
        install: "",
        log_in: "",
    }
}

pub(crate) fn command(task: &Task) -> CommandSpec {
    let facts = facts();
    CommandSpec {
        program: task.program.clone().unwrap_or_default(),
        args: task.extra_args.clone(),
        env: std::collections::BTreeMap::new(),
        removed_env: Vec::new(),
        pass_env: Vec::new(),
        stdin: task.prompt.clone(),
        files: Vec::new(),
        links: Vec::new(),
        stop_signal: facts.stop_signal,
        wall_secs: facts.wall_secs,
        idle_secs: facts.idle_secs,
    }
}

/// The end of a program's output.
#[derive(Debug, Default)]
pub(crate) struct Text {
    tail: Vec<u8>,
}

impl Text {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        // Cut only when the buffer is twice as long as needed: cutting on every push would make
        // this quadratic.
        if self.tail.len() > 2 * TAIL_BYTES {
            self.cut();
        }
    }

    pub(crate) fn answer(&mut self) -> String {
        self.cut();
        String::from_utf8_lossy(&self.tail).into_owned()
    }

    fn cut(&mut self) {
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
    }

    /// Judges the run. The exit code is the only evidence, so a program that crashed has failed.
    #[expect(
        clippy::unused_self,
        reason = "it reads like the streams of the other adapters"
    )]
    pub(crate) fn judge(&self, exit: &Exit) -> (Outcome, Option<String>) {
        match (&exit.ended, exit.code) {
            (Ended::CannotStart { why }, _) => (Outcome::NotInstalled, Some(why.clone())),
            (Ended::Stopped, _) => (Outcome::Interrupted, None),
            (Ended::Itself, Some(0)) => (Outcome::Done, None),
            (Ended::Itself, Some(TRY_LATER)) => (Outcome::RateLimited { after_ms: None }, None),
            (Ended::Itself, Some(NOT_LOGGED_IN)) => (Outcome::NotLoggedIn, None),
            (Ended::Itself, _) => (Outcome::Failed, None),
            (Ended::WallTimeout | Ended::IdleTimeout | Ended::WentRound, _) => {
                (Outcome::Failed, Some("it ran out of time".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_means() {
        for (exit, expected) in [
            (Exit::with_code(0), Outcome::Done),
            (Exit::with_code(1), Outcome::Failed),
            (Exit::with_code(75), Outcome::RateLimited { after_ms: None }),
            (Exit::with_code(77), Outcome::NotLoggedIn),
            (Exit::with_signal(11, Ended::Itself), Outcome::Failed),
            (Exit::with_signal(15, Ended::Stopped), Outcome::Interrupted),
            (Exit::with_signal(15, Ended::WallTimeout), Outcome::Failed),
            (
                Exit::with_signal(
                    0,
                    Ended::CannotStart {
                        why: "no".to_owned(),
                    },
                ),
                Outcome::NotInstalled,
            ),
        ] {
            assert_eq!(Text::default().judge(&exit).0, expected, "{exit:?}");
        }
    }

    #[test]
    fn the_end_of_the_output_is_kept() {
        let mut text = Text::default();
        for _ in 0..100 {
            text.push(&vec![b'x'; 100_000]);
            assert!(text.tail.len() <= 3 * TAIL_BYTES);
        }
        text.push(b"verdict");
        let answer = text.answer();
        assert!(answer.ends_with("xverdict") && answer.len() == TAIL_BYTES);
    }
}
