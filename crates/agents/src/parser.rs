//! Reads a run's output and derives the run's outcome at its end.

use serde_json::Value;

use crate::classify::classify;
use crate::command::Text;
use crate::evidence::Evidence;
use crate::exit::{Clock, Ended, Exit};
use crate::json;
use crate::kind::Kind;
use crate::lines::{Line, Lines};
use crate::outcome::Outcome;
use crate::phrases;
use crate::record::{Record, short};
use crate::summary::RunSummary;

/// Reads the output of one run. Its memory is bounded whatever the output is.
#[derive(Debug)]
pub struct Parser {
    input: Input,
    record: Record,
}

#[derive(Debug)]
enum Input {
    Events {
        lines: Lines,
        dialect: Box<dyn Dialect>,
    },
    Text(Text),
}

/// Reads the event stream of one CLI.
pub(crate) trait Dialect: std::fmt::Debug + Send {
    /// Reads one event of the stream.
    fn event(&mut self, event: &Value, record: &mut Record);

    /// Says how the run ended by the CLI's own rule, as far as the stream shows it.
    fn claim(&self, record: &Record, exit: &Exit) -> Claim;
}

/// What a stream claims about the end of its run. How the process ended may overrule it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The agent finished.
    Done,
    /// The agent finished. A failing exit code only reflects an error that it recovered from.
    Recovered,
    /// The agent finished, but it was denied something that it needed.
    Denied(String),
    /// The agent ended with a question.
    Asked(String),
    /// The agent gave up: it ran out of turns, budget or output length.
    GaveUp(String),
    /// The run failed, and the evidence has yet to be classified.
    Broke(Evidence),
    /// The run failed in a way that only a person can resolve.
    Broken(String),
    /// The CLI reports that it was interrupted.
    Interrupted,
    /// The stream has no end.
    Unfinished,
}

impl Parser {
    /// Makes a parser for one run of a CLI.
    pub fn new(kind: Kind) -> Self {
        let input = match kind.dialect() {
            Some(dialect) => Input::Events {
                lines: Lines::default(),
                dialect,
            },
            None => Input::Text(Text::default()),
        };
        Self {
            input,
            record: Record::default(),
        }
    }

    /// Reads the next bytes of standard output.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.input {
            Input::Events { lines, dialect } => {
                lines.push(bytes, |line| take(line, dialect.as_mut(), &mut self.record));
            }
            Input::Text(text) => text.push(bytes),
        }
    }

    /// Ends the run and summarises it.
    pub fn finish(mut self, exit: &Exit, clock: &Clock) -> RunSummary {
        let (outcome, message) = match &mut self.input {
            Input::Events { lines, dialect } => {
                lines.finish(|line| take(line, dialect.as_mut(), &mut self.record));
                let claim = dialect.claim(&self.record, exit);
                Judge {
                    record: &self.record,
                    exit,
                    clock,
                }
                .judge(claim)
            }
            Input::Text(text) => {
                self.record.said(&text.answer());
                text.judge(exit)
            }
        };
        // Only a run that is done has an answer: the last words of a failed one must not be taken
        // for it. A run that is done has not lost its session, whatever standard error says.
        let is_done = outcome == Outcome::Done;
        let is_session_lost = !is_done
            && message
                .iter()
                .chain([&exit.stderr_tail])
                .any(|text| phrases::is_session_lost(&text.to_lowercase()));
        RunSummary {
            answer: if is_done { self.record.answer() } else { None },
            outcome,
            message: message.map(|message| short(&message)),
            is_session_lost,
            session: self.record.session,
            usage: self.record.usage,
            model: self.record.model,
            tool_calls: self.record.tool_calls,
            n_tool_calls: self.record.n_tool_calls,
            n_unknown_events: self.record.n_unknown_events,
            n_strange_lines: self.record.n_strange_lines,
            strange_line: self.record.strange_line,
        }
    }
}

/// Reads one line of an event stream.
pub(crate) fn take(line: Line<'_>, dialect: &mut dyn Dialect, record: &mut Record) {
    let event = match line {
        Line::Whole(bytes) => json::object(bytes),
        Line::TooLong(_) => None,
    };
    match (event, line) {
        (Some(event), _) => {
            record.n_events += 1;
            dialect.event(&event, record);
        }
        (None, Line::Whole(bytes)) => record.strange_line(bytes),
        (None, Line::TooLong(head)) => record.long_line(head),
    }
}

/// Weighs a stream's claim against how the process ended.
struct Judge<'a> {
    record: &'a Record,
    exit: &'a Exit,
    clock: &'a Clock,
}

/// An outcome and the CLI's message about it.
type Judgment = (Outcome, Option<String>);

impl Judge<'_> {
    fn judge(&self, claim: Claim) -> Judgment {
        if let Ended::CannotStart { why } = &self.exit.ended {
            return (Outcome::NotInstalled, Some(why.clone()));
        }
        // A run that we stopped is interrupted whatever it claims: its last words answer our
        // signal.
        if self.exit.ended == Ended::Stopped {
            return (Outcome::Interrupted, None);
        }
        match claim {
            Claim::Interrupted => (Outcome::Interrupted, None),
            Claim::Done => self.check_exit(Outcome::Done, None),
            Claim::Recovered => (Outcome::Done, None),
            Claim::Denied(what) => self.check_exit(Outcome::PermissionDenied, Some(what)),
            Claim::Asked(question) => self.check_exit(
                Outcome::NeedsAnswer {
                    question: short(&question),
                },
                None,
            ),
            Claim::GaveUp(why) => (Outcome::Failed, Some(why)),
            Claim::Broke(evidence) => self.broke(&evidence),
            Claim::Broken(why) => (Outcome::Protocol { line: short(&why) }, Some(why)),
            Claim::Unfinished => self.unfinished(),
        }
    }

    /// Confirms a claim of success by the exit code. A CLI that finished but did not exit was ended
    /// by our watchdog; that does not affect its work.
    fn check_exit(&self, outcome: Outcome, message: Option<String>) -> Judgment {
        match self.exit.code {
            Some(0) => (outcome, message),
            _ if self.exit.is_timeout() => (outcome, message),
            _ if self.exit.is_by_signal() => (Outcome::Interrupted, None),
            code => {
                let code = code.map_or("none".to_owned(), |code| code.to_string());
                let line = format!(
                    "it said that it had finished, but its exit code is {code}{}",
                    self.last_words()
                );
                (Outcome::Protocol { line: short(&line) }, Some(line))
            }
        }
    }

    fn broke(&self, evidence: &Evidence) -> Judgment {
        // An unknown error goes to a person. It must not cost the story an attempt.
        let outcome = classify(evidence, self.clock).unwrap_or_else(|| Outcome::Protocol {
            line: short(evidence.text()),
        });
        (outcome, Some(evidence.text().to_owned()))
    }

    /// Judges a stream that stops without an end, which is the normal shape after a signal.
    fn unfinished(&self) -> Judgment {
        let trouble = self.record.trouble.as_ref();
        if self.exit.is_timeout() {
            return self.timed_out(trouble);
        }
        // The CLI's last retry notice explains the end better than the exit code does.
        if let Some(trouble) = trouble
            && let Some(outcome) = classify(trouble, self.clock)
        {
            return (outcome, Some(trouble.text().to_owned()));
        }
        if self.exit.is_by_signal() {
            return (Outcome::Interrupted, None);
        }
        // Before the model has done anything, a failed start and a lost session look like this too.
        if !self.record.is_under_way
            && let Some(judgment) = self.never_began()
        {
            return judgment;
        }
        (Outcome::Interrupted, None)
    }

    /// Judges a run that a watchdog ended. Waiting for a server is the server's fault. A tool that
    /// hangs, or work without end, is the agent's.
    fn timed_out(&self, trouble: Option<&Evidence>) -> Judgment {
        if let Some(trouble) = trouble {
            let outcome = classify(trouble, self.clock).unwrap_or(Outcome::Network);
            return (outcome, Some(trouble.text().to_owned()));
        }
        if self.exit.ended == Ended::WentRound {
            let why = "it made the same call again and again, always with the same result";
            return (Outcome::Failed, Some(why.to_owned()));
        }
        // Silence while a tool runs is the tool's; silence without one is the server's.
        if self.exit.ended == Ended::WallTimeout || self.record.is_tool_running() {
            return (Outcome::Failed, Some("it ran out of time".to_owned()));
        }
        (
            Outcome::Network,
            Some("nothing came from it or from its model for too long".to_owned()),
        )
    }

    /// Judges a run that ended before the model did anything. Its error is then on standard error,
    /// or on standard output as a line that is no event. Only here is standard error classified:
    /// later on it is mostly noise and tool output.
    fn never_began(&self) -> Option<Judgment> {
        let stderr = self.exit.stderr_tail.trim();
        let strange = self.record.strange_line.as_deref().unwrap_or_default();
        let message = if stderr.is_empty() { strange } else { stderr };
        let evidence = Evidence::of_text(message);
        let text = evidence.plain();
        // 127 is a shell's exit code for a command that it cannot find.
        let outcome = if self.exit.code == Some(127) || phrases::is_not_installed(text) {
            Outcome::NotInstalled
        } else if phrases::is_session_lost(text) {
            // Interrupted leads to another try; the summary says that it needs a fresh session.
            Outcome::Interrupted
        } else if phrases::is_too_old(text) {
            Outcome::TooOld
        } else if let Some(outcome) = classify(&evidence, self.clock) {
            outcome
        } else if self.record.n_events == 0 {
            let line = if message.is_empty() {
                "nothing was printed"
            } else {
                last_lines(message)
            };
            Outcome::Protocol { line: short(line) }
        } else {
            return None;
        };
        Some((outcome, Some(last_lines(message).to_owned())))
    }

    /// The last line of standard error, to be appended to a message.
    fn last_words(&self) -> String {
        let line = self
            .exit
            .stderr_tail
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty());
        line.map(|line| format!(": {}", line.trim()))
            .unwrap_or_default()
    }
}

/// The last lines of a text. A program's first lines are mostly noise, its last ones say why it
/// ended.
fn last_lines(text: &str) -> &str {
    const N_LINES: usize = 4;
    let start = text
        .rmatch_indices('\n')
        .nth(N_LINES - 1)
        .map_or(0, |(at, _)| at + 1);
    &text[start..]
}
