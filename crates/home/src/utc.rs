//! Times: now, and any of them as people write it.

use std::time::SystemTime;

use kernel::date;

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Date and time with their zone, which is always UTC: `2026-01-31 09:30 UTC`.
pub fn utc(at_ms: i64) -> String {
    format!("{} UTC", written(at_ms))
}

/// Date and time here, with how far that is ahead of UTC: `2026-01-31 10:30 +01:00`.
pub fn local(at_ms: i64) -> String {
    let secs = u64::try_from(at_ms / 1000).unwrap_or_default();
    zoned(at_ms, local_offset_secs(secs))
}

/// The same, where somebody knows how far that is.
pub fn zoned(at_ms: i64, offset_secs: i32) -> String {
    let minutes = offset_secs.abs() / 60;
    let sign = if offset_secs < 0 { '-' } else { '+' };
    let here_ms = at_ms.saturating_add(i64::from(offset_secs) * 1000);
    let (hours, rest) = (minutes / 60, minutes % 60);
    format!("{} {sign}{hours:02}:{rest:02}", written(here_ms))
}

/// Date and time as they would be if this were UTC.
fn written(at_ms: i64) -> String {
    let minutes = at_ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minute / 60,
        minute % 60
    )
}

/// How far the machine's zone is ahead of UTC, asked of `date`: no crate is needed for one number.
/// GNU takes the moment one way, BSD and macOS another.
pub fn local_offset_secs(secs: u64) -> i32 {
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
    fn a_time_reads_as() {
        for (at_ms, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_798_761_599_999, "2026-12-31 23:59 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(at_ms), expected);
        }
    }

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

    #[test]
    fn a_time_here_reads_as() {
        for (offset_secs, expected) in [
            (0, "2026-12-31 23:59 +00:00"),
            (3600, "2027-01-01 00:59 +01:00"),
            (-12_600, "2026-12-31 20:29 -03:30"),
        ] {
            assert_eq!(zoned(1_798_761_599_999, offset_secs), expected);
        }
    }
}
