//! What only a judge can weigh in product code: it asks whether it is tested, reaches into a
//! runner, waits for a date, throws dice, ends its process.
//!
//! A flag decides nothing. Each is a line that a person would want to be shown, and ordinary code
//! must not be flagged, or nobody looks any more. Only lines that the candidate added are looked at,
//! one by one and without a grammar: who wants to hide can, and the measurements must hold anyway.

mod chance;
mod debug_builds;
mod ends;
mod equality;
mod hiding;
mod patches;
mod reads;
mod sees;
mod signs;
mod source;
#[cfg(test)]
mod tests;

pub use hiding::has_hiding_bytes;

use kernel::{Flag, FlagKind};

use crate::text::{clip, head};
use signs::Found;
use source::Source;

/// Most flags of one file.
pub const FLAGS_MAX: usize = 100;
/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest line that is shown.
const SHOWN_BYTES_MAX: usize = 160;

/// A look at one line.
type Look = fn(&Source<'_>, usize) -> Found;

/// The looks at each new line. The order is that of the answer within a line.
const LOOKS: [(FlagKind, Look); 7] = [
    (FlagKind::SeesTests, sees::look),
    (FlagKind::PatchesRunner, patches::look),
    (FlagKind::OverridesEquality, equality::look),
    (FlagKind::ReadsTests, reads::look),
    (FlagKind::WaitsForDate, chance::look_at_time),
    (FlagKind::Random, chance::look_at_dice),
    (FlagKind::EndsProcess, ends::look),
];

/// Says whether a test takes anything from the clock, from chance or from its surroundings. It is then
/// not believed to be red until it was so several times.
pub fn takes_chance(path: &str, text: &str) -> bool {
    let text = head(text, TEXT_BYTES_MAX);
    Source::read(path, "", text).is_some_and(|source| chance::takes_chance(&source))
}

/// Looks at the lines that a candidate added to a product source file.
///
/// `base` is nothing where the file is new. A language that is not known gives no flags.
pub fn flags(path: &str, base: Option<&str>, candidate: &str) -> Vec<Flag> {
    let candidate = head(candidate, TEXT_BYTES_MAX);
    let base = head(base.unwrap_or(""), TEXT_BYTES_MAX);
    let Some(source) = Source::read(path, base, candidate) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, line) in source.lines.iter().enumerate() {
        if !line.is_new || line.code.is_empty() {
            continue;
        }
        for (kind, look) in LOOKS {
            if let Some(says) = look(&source, index) {
                found.push(Flag {
                    kind,
                    place: format!("{path}:{}", index + 1),
                    text: format!("{says}: `{}`", clip(line.raw.trim(), SHOWN_BYTES_MAX)),
                });
            }
        }
        if found.len() >= FLAGS_MAX {
            break;
        }
    }
    found.truncate(FLAGS_MAX);
    found
}
