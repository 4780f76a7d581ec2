//! The time of this machine, as CLIs name it when they say when a limit ends.

use std::fs;
use std::sync::{Mutex, PoisonError};

use agents::Clock;

/// How long an offset is taken for known: clocks change at full hours.
const KNOWN_SECS: u64 = 15 * 60;

/// The last offset that was asked for, and when.
static OFFSET: Mutex<Option<(u64, i32)>> = Mutex::new(None);

/// The time here, as CLIs name it.
pub(crate) fn clock(now_ms: i64) -> Clock {
    let now_ms = u64::try_from(now_ms).unwrap_or_default();
    let offset = known_offset_secs(now_ms / 1000);
    let zones = zone_name().map(|name| (name, offset)).into_iter().collect();
    Clock {
        now_ms,
        local_offset_secs: offset,
        zones,
    }
}

/// The zone's name, as the environment or the system has it.
fn zone_name() -> Option<String> {
    if let Ok(name) = std::env::var("TZ") {
        return Some(name.trim_start_matches(':').to_owned());
    }
    let link = fs::read_link("/etc/localtime").ok()?;
    let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
    Some(name.to_owned())
}

fn known_offset_secs(secs: u64) -> i32 {
    let mut known = OFFSET.lock().unwrap_or_else(PoisonError::into_inner);
    match *known {
        Some((asked, offset)) if asked / KNOWN_SECS == secs / KNOWN_SECS => offset,
        _ => {
            let offset = local_offset_secs(secs);
            *known = Some((secs, offset));
            offset
        }
    }
}

/// How far the machine's zone is ahead of UTC, asked of `date`: no crate is needed for one number.
/// GNU takes the moment one way, BSD and macOS another.
fn local_offset_secs(secs: u64) -> i32 {
    let ask = |arguments: [String; 3]| {
        let said = std::process::Command::new("date")
            .args(arguments)
            .output()
            .ok()?;
        said.status
            .success()
            .then(|| offset_secs(&String::from_utf8_lossy(&said.stdout)))
            .flatten()
    };
    let format = || "+%z".to_owned();
    ask(["-d".to_owned(), format!("@{secs}"), format()])
        .or_else(|| ask(["-r".to_owned(), secs.to_string(), format()]))
        .unwrap_or_default()
}

/// Reads `+0130`, as `date` writes an offset.
fn offset_secs(text: &str) -> Option<i32> {
    let (sign, digits) = match text.trim().split_at_checked(1)? {
        ("-", digits) => (-1, digits),
        ("+", digits) => (1, digits),
        _ => return None,
    };
    let part =
        |range: std::ops::Range<usize>| digits.get(range).and_then(|part| part.parse::<i32>().ok());
    (digits.len() == 4).then_some(sign * (part(0..2)? * 3600 + part(2..4)? * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_read() {
        for (text, expected) in [
            ("+0000\n", Some(0)),
            ("+0130\n", Some(5400)),
            ("-0800", Some(-28_800)),
            ("", None),
            ("+1", None),
            ("date: illegal option -- d", None),
        ] {
            assert_eq!(offset_secs(text), expected, "{text}");
        }
    }
}
