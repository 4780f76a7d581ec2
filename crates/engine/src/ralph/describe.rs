//! What agents do, how they end and how checks fail, in a few words.

use std::path::Path;

use agents::{Activity, RunSummary};
use home::Redactor;
use sandbox::{ExitCause, ExitRecord, Stream};

use super::ending::Ended;

const WORDS_MAX: usize = 100;
const TAIL_BYTES: usize = 4096;

/// What an agent does right now; none for what changes nothing on a status line.
pub(super) fn doing(activity: &Activity) -> Option<String> {
    let words = match activity {
        Activity::Said { text } | Activity::Planned { text } => text.clone(),
        Activity::ToolStarted { tool, target } => format!("{tool} {target}"),
        Activity::Edited { path } => format!("edited {path}"),
        Activity::Troubled { why } => format!("trouble: {why}"),
        Activity::ToolEnded { .. } | Activity::Used { .. } => return None,
    };
    Some(short(&words)).filter(|words| !words.is_empty())
}

/// Why a check is red, with the last line that it printed.
pub(super) fn red_words(name: &str, command: &str, exit: &ExitRecord, folder: &Path) -> String {
    let code = match exit.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal or at its limit".to_owned(),
    };
    let last = last_printed(folder, Stream::Stdout).map(|line| format!(": {line}"));
    format!(
        "the check {name} is red (`{}`, {code}){}",
        short(command),
        last.unwrap_or_default()
    )
}

/// Adds to an agent's bad end what its person looks for first: its last line, and where the rest is.
pub(super) fn with_output(
    ended: Ended,
    exit: &ExitRecord,
    summary: &RunSummary,
    is_any_program: bool,
    folder: &Path,
) -> Ended {
    if matches!(exit.cause, ExitCause::CannotStart { .. }) {
        return ended;
    }
    let last = if is_any_program {
        // What went wrong is said there where somebody says that something went wrong.
        let streams = match exit.exit_code {
            Some(0) => [Stream::Stdout, Stream::Stderr],
            _ => [Stream::Stderr, Stream::Stdout],
        };
        let mut lines = streams.into_iter();
        lines.find_map(|stream| last_printed(folder, stream))
    } else {
        // The output of a CLI is for programs; its answer is for people.
        summary.answer.as_deref().and_then(last_line)
    };
    let last = last.map_or_else(String::new, |line| format!("; its last line: {line}"));
    let more = format!("{last}; its output is in {}", folder.display());
    match ended {
        Ended::Failed { why } => Ended::Failed {
            why: format!("{why}{more}"),
        },
        Ended::Impossible { why } => Ended::Impossible {
            why: format!("{why}{more}"),
        },
        ended => ended,
    }
}

fn last_printed(folder: &Path, stream: Stream) -> Option<String> {
    let output = sandbox::output(folder, stream).unwrap_or_default();
    last_line(&String::from_utf8_lossy(output.tail(TAIL_BYTES)))
}

/// The last line with something in it, without secrets: it is kept in the claim store and in the log.
fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let redactor = Redactor::new(&home::secrets_seen());
    Some(short(&redactor.text(line)))
}

fn short(words: &str) -> String {
    let line = home::one_line(words);
    let mut short: String = line.chars().take(WORDS_MAX).collect();
    if line.chars().nth(WORDS_MAX).is_some() {
        short.push('…');
    }
    short
}
