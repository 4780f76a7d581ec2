//! What the stream and the end of a known agent CLI mean, in the words of the journal.

use std::path::Path;

use agents::{
    Ended, Exit, Kind, Outcome, Parser, Price, Prices, RunSummary, Sessions, Tokens, Usage,
};
use kernel::{FaultCause, InterruptCause, RunOrder, RunOutcome, RunUsage};
use sandbox::{ExitCause, ExitRecord, Stream};

use crate::ports::Runs;
use crate::run::files::RunFiles;
use crate::run::local_time::clock;

/// Bytes of standard error that are looked at.
const STDERR_BYTES: usize = 16 * 1024;

/// A wait that is worth giving the work to somebody else.
const LONG_WAIT_MS: i64 = 60_000;

/// What the stream of a CLI that was cut off with its keeper says so far.
pub(crate) fn summary_so_far(kind: Kind, runs: &dyn Runs, folder: &Path) -> RunSummary {
    let mut parser = Parser::new(kind);
    let output = runs.output(folder, Stream::Stdout);
    parser.push(output.text(usize::MAX, None).as_bytes());
    let exit = Exit {
        ended: Ended::Stopped,
        code: None,
        signal: None,
        stderr_tail: String::new(),
    };
    parser.finish(&exit, &clock(0))
}

/// What a CLI's stream and end say.
pub(crate) fn summarize(
    kind: Kind,
    runs: &dyn Runs,
    folder: &Path,
    exit: &ExitRecord,
    now_ms: i64,
) -> RunSummary {
    let mut parser = Parser::new(kind);
    let output = runs.output(folder, Stream::Stdout);
    let length = exit.stdout_bytes + exit.stdout_dropped;
    parser.push(output.text(usize::MAX, Some(length)).as_bytes());
    let errors = runs.output(folder, Stream::Stderr);
    let ended = match &exit.cause {
        ExitCause::Exited => Ended::Itself,
        ExitCause::WallTimeout => Ended::WallTimeout,
        ExitCause::IdleTimeout => Ended::IdleTimeout,
        ExitCause::WentRound => Ended::WentRound,
        ExitCause::Stopped => Ended::Stopped,
        ExitCause::CannotStart { why, .. } => Ended::CannotStart {
            why: home::plain(why),
        },
    };
    let exit = Exit {
        ended,
        code: exit.exit_code,
        signal: exit.signal,
        stderr_tail: String::from_utf8_lossy(errors.tail(STDERR_BYTES)).into_owned(),
    };
    parser.finish(&exit, &clock(now_ms))
}

/// The session of a run that was cut short, if the next try can resume it: the CLI can, it had begun
/// to work, and its files are there.
pub(crate) fn resumable(kind: Kind, summary: &RunSummary, files: &RunFiles) -> Option<String> {
    // A session that is too long stays so, and one that was forbidden something has learned to do
    // without.
    let is_spoilt = matches!(
        summary.outcome,
        Outcome::ContextOverflow | Outcome::PermissionDenied
    );
    let has_sessions = kind.facts().sessions != Sessions::None;
    let has_begun = summary.n_tool_calls > 0 && files.has_checkout();
    if is_spoilt || !has_sessions || !has_begun {
        return None;
    }
    let session = summary.session.as_ref()?;
    Some(session.as_str().to_owned())
}

/// What an end that is not a good one means; none for a run that is done.
pub(crate) fn unhappy(
    kind: Kind,
    summary: &RunSummary,
    order: &RunOrder,
    now_ms: i64,
    login: &dyn Fn(Option<&str>) -> String,
) -> Option<RunOutcome> {
    let unhappy = Unhappy {
        kind,
        summary,
        order,
        now_ms,
        login,
    };
    // Whatever a CLI says that cannot find its session: the next try is a fresh one, and its end
    // tells the truth.
    let is_strange =
        matches!(summary.outcome, Outcome::Protocol { .. }) && summary.n_tool_calls == 0;
    if order.resume.is_some() && (summary.is_session_lost || is_strange) {
        return Some(unhappy.interrupted(InterruptCause::SessionLost, "the session is lost"));
    }
    unhappy.outcome()
}

struct Unhappy<'a> {
    kind: Kind,
    summary: &'a RunSummary,
    order: &'a RunOrder,
    now_ms: i64,
    /// What to ask where the CLI is not logged in, with its own words.
    login: &'a dyn Fn(Option<&str>) -> String,
}

impl Unhappy<'_> {
    fn outcome(&self) -> Option<RunOutcome> {
        let facts = self.kind.facts();
        let millis = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Some(match &self.summary.outcome {
            Outcome::Done => return None,
            Outcome::Failed => self.failed("gave up"),
            Outcome::Interrupted => self.interrupted(InterruptCause::CutOff, "it was cut off"),
            // A fresh session may help once; a second overflow is the story's own size.
            Outcome::ContextOverflow if self.order.has_outgrown => {
                self.failed("the session outgrew the model twice")
            }
            Outcome::ContextOverflow => {
                self.interrupted(InterruptCause::Outgrown, "the session outgrew the model")
            }
            Outcome::UsageLimit { until_ms } => self.wait(
                FaultCause::UsageLimit,
                "the allowance is used up",
                until_ms.map(millis),
                true,
            ),
            Outcome::RateLimited { after_ms } => {
                let until_ms = after_ms.map(|after| self.now_ms.saturating_add(millis(after)));
                let is_long = self.is_long(until_ms);
                self.wait(
                    FaultCause::RateLimit,
                    "too many requests",
                    until_ms,
                    is_long,
                )
            }
            Outcome::Overloaded => self.wait(
                FaultCause::Overloaded,
                "the model's servers are in trouble",
                None,
                self.is_long(None),
            ),
            Outcome::Network => self.wait(
                FaultCause::Network,
                "the model's servers cannot be reached",
                None,
                self.is_long(None),
            ),
            Outcome::NotInstalled => {
                self.ask(&format!("cannot be started; install it: {}", facts.install))
            }
            Outcome::TooOld => self.ask(&format!("is too old; install it anew: {}", facts.install)),
            Outcome::NotLoggedIn => RunOutcome::NeedsHuman {
                question: (self.login)(self.summary.message.as_deref()),
                free: false,
            },
            Outcome::Billing => self.ask("has nothing left to spend; add credit or raise the plan"),
            Outcome::PermissionDenied => self.ask("was forbidden something that it needs"),
            Outcome::NeedsAnswer { question } => RunOutcome::NeedsHuman {
                question: question.clone(),
                free: true,
            },
            Outcome::Protocol { line } => {
                self.ask(&format!("said something that is not understood (`{line}`)"))
            }
        })
    }

    /// A hiccup is over sooner than somebody else has read the task.
    fn is_long(&self, until_ms: Option<i64>) -> bool {
        match until_ms {
            Some(until_ms) => until_ms.saturating_sub(self.now_ms) > LONG_WAIT_MS,
            None => self.order.faults > 0,
        }
    }

    /// What happened, with the CLI's own words behind it.
    fn words(&self, what: &str) -> String {
        let name = self.kind.facts().name;
        match &self.summary.message {
            Some(message) => format!("{name}: {what}: {message}"),
            None => format!("{name}: {what}"),
        }
    }

    fn failed(&self, what: &str) -> RunOutcome {
        RunOutcome::Failed {
            why: self.words(what),
        }
    }

    fn interrupted(&self, cause: InterruptCause, what: &str) -> RunOutcome {
        RunOutcome::interrupted(cause, self.words(what))
    }

    fn wait(
        &self,
        cause: FaultCause,
        what: &str,
        until_ms: Option<i64>,
        elsewhere: bool,
    ) -> RunOutcome {
        RunOutcome::Infrastructure {
            why: self.words(what),
            until_ms,
            elsewhere,
            cause,
        }
    }

    fn ask(&self, what: &str) -> RunOutcome {
        let name = self.kind.facts().name;
        let said = match &self.summary.message {
            Some(message) => format!(": {message}"),
            None => String::new(),
        };
        RunOutcome::NeedsHuman {
            question: format!("{name} {what}{said}; then answer `retry`"),
            free: false,
        }
    }
}

/// What a run used beyond what its session had used before. CLIs report running totals of a session,
/// so what was counted before is taken off. What was not reported is not known.
pub(crate) fn usage_of(
    summary: &RunSummary,
    before: &RunUsage,
    model: Option<&str>,
    prices: &[Price],
) -> Option<RunUsage> {
    let usage = summary.usage.beyond(&counted(before));
    let tokens = usage.tokens;
    let model = summary.model.as_deref().or(model);
    let by_table = || Prices::new(prices.to_vec()).cost_micro_usd(model?, &tokens?);
    let cost = usage.cost_micro_usd.or_else(by_table);
    if tokens.is_none() && cost.is_none() {
        return None;
    }
    let session = summary.session.as_ref();
    Some(RunUsage {
        model: model.map(str::to_owned),
        input_tokens: tokens.map(|tokens| tokens.input),
        cached_tokens: tokens.map(|tokens| tokens.cached),
        output_tokens: tokens.map(|tokens| tokens.output),
        cost_micro_usd: cost,
        session: session.map(|session| session.as_str().to_owned()),
        resumable: false,
    })
}

fn counted(before: &RunUsage) -> Usage {
    let tokens = Tokens {
        input: before.input_tokens.unwrap_or_default(),
        cached: before.cached_tokens.unwrap_or_default(),
        output: before.output_tokens.unwrap_or_default(),
    };
    Usage {
        tokens: before.tokens().map(|_| tokens),
        cost_micro_usd: before.cost_micro_usd,
        ..Usage::default()
    }
}
