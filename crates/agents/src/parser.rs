//! Reads a run's output while it comes and says at the end what became of the run.

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
use crate::summary::{AgentEvent, RunSummary};

/// Reads the output of one run. Memory is bounded whatever comes.
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

/// How one CLI speaks.
pub(crate) trait Dialect: std::fmt::Debug + Send {
    /// Takes one event of the stream.
    fn event(&mut self, event: &Value, record: &mut Record);

    /// Says how the run ended by the CLI's own rule, as far as the stream tells.
    fn claim(&self, record: &Record, exit: &Exit) -> Claim;
}

/// What a stream claims of its run's end.
#[derive(Debug)]
pub(crate) enum Claim {
    /// It finished.
    Done,
    /// It finished, and its exit code tells only of trouble on the way that it overcame by itself.
    Recovered,
    /// It finished, but something that it needed was forbidden to it.
    Denied(String),
    /// It finished with a question.
    Asked(String),
    /// It gave up: turns, budget, length.
    GaveUp(String),
    /// It failed for a reason that is to be found out.
    Broke(Evidence),
    /// It failed for a reason that only a person can see to.
    Broken(String),
    /// It was interrupted and says so.
    Interrupted,
    /// It says nothing of an end.
    Unfinished,
}

impl Parser {
    /// A parser for one run of a CLI.
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

    /// Takes the next bytes of standard output and gives what happened in them.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<AgentEvent> {
        match &mut self.input {
            Input::Events { lines, dialect } => {
                lines.push(bytes, |line| take(line, dialect.as_mut(), &mut self.record));
            }
            Input::Text(text) => text.push(bytes),
        }
        self.record.take_events()
    }

    /// Says what became of the run.
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
        let is_session_lost = outcome != Outcome::Done && {
            let said = message.iter().chain([&exit.stderr_tail]);
            said.map(|text| text.to_lowercase())
                .any(|text| phrases::is_session_lost(&text))
        };
        RunSummary {
            answer: (outcome == Outcome::Done)
                .then(|| self.record.answer())
                .flatten(),
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

fn take(line: Line<'_>, dialect: &mut dyn Dialect, record: &mut Record) {
    let event = match line {
        Line::Whole(bytes) => json::object(bytes),
        Line::TooLong(_) => None,
    };
    match (event, line) {
        (Some(event), _) => {
            record.n_events += 1;
            dialect.event(&event, record);
        }
        (None, Line::Whole(bytes) | Line::TooLong(bytes)) => record.strange_line(bytes),
    }
}

struct Judge<'a> {
    record: &'a Record,
    exit: &'a Exit,
    clock: &'a Clock,
}

/// An outcome and what the CLI said of it.
type Judgment = (Outcome, Option<String>);

impl Judge<'_> {
    fn judge(&self, claim: Claim) -> Judgment {
        if let Ended::CannotStart { why } = &self.exit.ended {
            return (Outcome::NotInstalled, Some(why.clone()));
        }
        let is_stopped = self.exit.ended == Ended::Stopped;
        match claim {
            _ if is_stopped => (Outcome::Interrupted, None),
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

    /// A CLI that claims success must also have ended well. One that had finished and then did not
    /// go away was ended by our watchdog, and that takes nothing from its work.
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
        let unknown = || Outcome::Protocol {
            line: short(evidence.text()),
        };
        (
            classify(evidence, self.clock).unwrap_or_else(unknown),
            Some(evidence.text().to_owned()),
        )
    }

    /// The stream ends without an end.
    fn unfinished(&self) -> Judgment {
        let trouble = self.record.trouble.as_ref();
        if self.exit.is_timeout() {
            return self.timed_out(trouble);
        }
        if let Some(trouble) = trouble
            && let Some(outcome) = classify(trouble, self.clock)
        {
            return (outcome, Some(trouble.text().to_owned()));
        }
        if self.exit.is_by_signal() {
            return (Outcome::Interrupted, None);
        }
        if !self.record.is_under_way
            && let Some(judgment) = self.never_began()
        {
            return judgment;
        }
        (Outcome::Interrupted, None)
    }

    /// A watchdog ended it. Waiting for a server is the server's fault; a tool that hangs, or work
    /// without end, is the agent's.
    fn timed_out(&self, trouble: Option<&Evidence>) -> Judgment {
        if let Some(trouble) = trouble {
            let outcome = classify(trouble, self.clock).unwrap_or(Outcome::Network);
            return (outcome, Some(trouble.text().to_owned()));
        }
        if self.exit.ended == Ended::WallTimeout || self.record.is_tool_running() {
            return (Outcome::Failed, Some("it ran out of time".to_owned()));
        }
        (
            Outcome::Network,
            Some("nothing came from it or from its model for too long".to_owned()),
        )
    }

    /// It ended before a model had said anything: then its complaint is on standard error, or is no
    /// event.
    fn never_began(&self) -> Option<Judgment> {
        let stderr = self.exit.stderr_tail.trim();
        let strange = self.record.strange_line.as_deref().unwrap_or_default();
        let said = if stderr.is_empty() { strange } else { stderr };
        let evidence = Evidence::of_text(said);
        let text = evidence.plain();
        let outcome = if self.exit.code == Some(127) || phrases::is_not_installed(text) {
            Outcome::NotInstalled
        } else if phrases::is_session_lost(text) {
            Outcome::Interrupted
        } else if phrases::is_too_old(text) {
            Outcome::TooOld
        } else if let Some(outcome) = classify(&evidence, self.clock) {
            outcome
        } else if self.record.n_events == 0 {
            let line = if said.is_empty() {
                "nothing was printed"
            } else {
                last_lines(said)
            };
            Outcome::Protocol { line: short(line) }
        } else {
            return None;
        };
        Some((outcome, Some(last_lines(said).to_owned())))
    }

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

/// The last lines of a text: what a program says before it ends counts, what it says when it begins
/// is mostly noise.
fn last_lines(text: &str) -> &str {
    const N_LINES: usize = 4;
    let begin = text
        .rmatch_indices('\n')
        .nth(N_LINES - 1)
        .map_or(0, |(at, _)| at + 1);
    &text[begin..]
}
