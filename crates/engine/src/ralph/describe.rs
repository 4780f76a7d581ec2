//! What agents do and how checks fail, in a few words.

use std::path::Path;

use agents::Activity;
use sandbox::{ExitRecord, Stream};

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
    let output = sandbox::output(folder, Stream::Stdout).unwrap_or_default();
    let tail = String::from_utf8_lossy(output.tail(TAIL_BYTES)).into_owned();
    let last = tail.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", short(line)));
    format!(
        "the check {name} is red (`{}`, {code}){}",
        short(command),
        last.unwrap_or_default()
    )
}

fn short(words: &str) -> String {
    let line = home::one_line(words);
    let mut short: String = line.chars().take(WORDS_MAX).collect();
    if line.chars().nth(WORDS_MAX).is_some() {
        short.push('…');
    }
    short
}
