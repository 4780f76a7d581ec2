//! Times: now, and any of them as people write it.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Date and time with their zone, which is always UTC: `2026-01-31 09:30 UTC`.
pub fn utc(at_ms: i64) -> String {
    moment(at_ms).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Date and time as programs read them: `2026-01-31T09:30:12.345Z`.
pub fn iso(at_ms: i64) -> String {
    moment(at_ms).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Date and time here, with how far that is ahead of UTC: `2026-01-31 10:30 +01:00`.
pub fn local(at_ms: i64) -> String {
    written(&moment(at_ms).to_zoned(TimeZone::system()))
}

/// How far the machine's zone is ahead of UTC at a moment, in seconds since 1970. A machine that
/// does not know its zone is in UTC.
pub fn local_offset_secs(secs: u64) -> i32 {
    let secs = i64::try_from(secs).unwrap_or(i64::MAX);
    let moment = Timestamp::from_second(secs).unwrap_or(Timestamp::MAX);
    TimeZone::system().to_offset(moment).seconds()
}

fn written(here: &Zoned) -> String {
    here.strftime("%Y-%m-%d %H:%M %:z").to_string()
}

/// A moment beyond the years that have four digits is the last of them.
fn moment(at_ms: i64) -> Timestamp {
    let beyond = if at_ms < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::from_millisecond(at_ms).unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

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
    fn a_time_here_reads_as() {
        for (offset_secs, expected) in [
            (0, "2026-12-31 23:59 +00:00"),
            (3600, "2027-01-01 00:59 +01:00"),
            (-12_600, "2026-12-31 20:29 -03:30"),
        ] {
            let zone = Offset::from_seconds(offset_secs)
                .expect("an offset")
                .to_time_zone();
            let seen = written(&moment(1_798_761_599_999).to_zoned(zone));
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn no_moment_is_too_far_away() {
        for at_ms in [i64::MIN, i64::MAX] {
            assert!(utc(at_ms).ends_with(" UTC"), "{at_ms}");
            assert!(!local(at_ms).is_empty(), "{at_ms}");
        }
        assert!(local_offset_secs(u64::MAX).abs() < 24 * 3600);
    }
}
