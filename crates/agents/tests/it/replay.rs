//! Feeds recorded streams to a parser.

use std::path::PathBuf;

use agents::{Clock, Exit, Kind, Outcome, Parser, RunSummary};

/// 2026-11-15 19:31:50 UTC, the day on which the streams were recorded.
pub(crate) const NOW_MS: u64 = 1_794_771_110_000;

pub(crate) fn clock() -> Clock {
    Clock::utc(NOW_MS)
}

pub(crate) fn cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The recorded output of a case such as `codex.success`. A run that printed nothing has no file.
pub(crate) fn stdout(case: &str) -> Vec<u8> {
    std::fs::read(cases().join(format!("{case}.jsonl"))).unwrap_or_default()
}

pub(crate) fn stderr(case: &str) -> String {
    let bytes = std::fs::read(cases().join(format!("{case}.stderr"))).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn kind(case: &str) -> Kind {
    let word = case.split('.').next().unwrap_or_default();
    Kind::of_word(word).unwrap_or_else(|| panic!("`{case}` does not begin with an agent's name"))
}

pub(crate) fn read(kind: Kind, stdout: &[u8], exit: &Exit) -> RunSummary {
    let mut parser = Parser::new(kind);
    for chunk in stdout.chunks(1000) {
        parser.push(chunk);
    }
    parser.finish(exit, &clock())
}

pub(crate) fn replay(case: &str, exit: Exit) -> RunSummary {
    let exit = Exit {
        stderr_tail: stderr(case),
        ..exit
    };
    read(kind(case), &stdout(case), &exit)
}

/// An outcome in one word, for tables.
pub(crate) fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::UsageLimit { until_ms: Some(ms) } => {
            format!("usage limit until +{}s", (ms - NOW_MS) / 1000)
        }
        Outcome::UsageLimit { until_ms: None } => "usage limit".to_owned(),
        Outcome::RateLimited { after_ms: Some(ms) } => format!("rate limited for {ms} ms"),
        Outcome::RateLimited { after_ms: None } => "rate limited".to_owned(),
        Outcome::NeedsAnswer { question } => format!("needs answer: {question}"),
        Outcome::Protocol { line } => format!("protocol: {line}"),
        Outcome::Done => "done".to_owned(),
        Outcome::Failed => "failed".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::NotInstalled => "not installed".to_owned(),
        Outcome::TooOld => "too old".to_owned(),
        Outcome::NotLoggedIn => "not logged in".to_owned(),
        Outcome::Billing => "billing".to_owned(),
        Outcome::Overloaded => "overloaded".to_owned(),
        Outcome::Network => "network".to_owned(),
        Outcome::ContextOverflow => "context overflow".to_owned(),
        Outcome::PermissionDenied => "permission denied".to_owned(),
    }
}
