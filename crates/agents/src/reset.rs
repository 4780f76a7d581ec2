//! Finds the reset time in an error text: `resets 12:46am (UTC)`, `try again at 9:26 PM`, `in 3
//! hours 20 minutes`, dates, epochs. A time that is not written is not guessed.

mod scan;
mod time;

pub(crate) use time::Passed;

use crate::exit::Clock;
use scan::Scan;

/// When a limit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At this time, in milliseconds since 1970.
    At(u64),
    /// After this many milliseconds.
    After(u64),
}

/// Words that a time may follow, each with the meaning of a bare number after it. The most specific
/// ones come first: `retry-after` must be tried before `retry`.
const SIGNS: [(&str, Bare); 16] = [
    ("retry-after", Bare::Seconds),
    ("retry after", Bare::Seconds),
    ("retry_after", Bare::Seconds),
    ("resets_in_seconds", Bare::Seconds),
    ("resets", Bare::Nothing),
    ("reset", Bare::Nothing),
    ("try again", Bare::Nothing),
    ("retry", Bare::Nothing),
    ("available", Bare::Nothing),
    ("renews", Bare::Nothing),
    ("refreshes", Bare::Nothing),
    ("limit reached|", Bare::Nothing),
    ("until", Bare::Nothing),
    ("come back", Bare::Nothing),
    ("wait", Bare::Nothing),
    ("back", Bare::Nothing),
];

/// The meaning of a number without a unit. Only after `retry-after` and its like is it a duration;
/// `retry 3 times` is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bare {
    Seconds,
    Nothing,
}

/// How far after a sign a time is looked for. Anything further away belongs to another sentence.
const REACH_CHARS: usize = 80;

/// Finds when a limit ends. A time of day is read in the zone it names, or in the machine's own if
/// it names none. If the zone is unknown, so is the time. A time of day that has passed means
/// tomorrow.
pub fn find_reset(text: &str, clock: &Clock) -> Option<When> {
    find(text, Passed::IsTomorrow, clock)
}

/// Finds when a limit ends; `passed` says what a time of day that has passed means to this CLI.
pub(crate) fn find(text: &str, passed: Passed, clock: &Clock) -> Option<When> {
    let lower = text.to_ascii_lowercase();
    SIGNS.iter().find_map(|(sign, bare)| {
        lower.match_indices(sign).find_map(|(at, _)| {
            let after = at + sign.len();
            // `resetting` is no `reset`. The sign of old claude versions, `limit
            // reached|1794790000`, ends with its own separator.
            let is_word = sign.ends_with('|')
                || !lower[after..].starts_with(|c: char| c.is_ascii_alphabetic());
            let reach = lower[after..]
                .char_indices()
                .nth(REACH_CHARS)
                .map_or(lower.len(), |(end, _)| after + end);
            if is_word {
                read(&lower[after..reach], *bare, passed, clock)
            } else {
                None
            }
        })
    })
}

fn read(rest: &str, bare: Bare, passed: Passed, clock: &Clock) -> Option<When> {
    let mut scan = Scan::new(rest);
    scan.skip_fillers();
    scan.duration_ms(bare == Bare::Seconds)
        .map(When::After)
        .or_else(|| scan.epoch_ms().map(When::At))
        .or_else(|| time::read(&mut scan, passed, clock).map(When::At))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15 19:31:50 UTC, a Sunday.
    const NOW_MS: u64 = 1_794_771_110_000;
    const HOUR: i32 = 3600;

    fn clock() -> Clock {
        let zones = [
            ("Europe/Oslo".to_owned(), HOUR),
            ("America/New_York".to_owned(), -5 * HOUR),
        ];
        Clock {
            now_ms: NOW_MS,
            local_offset_secs: 0,
            zones: zones.into(),
        }
    }

    /// Formats a time as a date in UTC.
    fn shown(when: Option<When>) -> String {
        match when {
            None => "nothing".to_owned(),
            Some(When::After(ms)) => format!("after {ms} ms"),
            Some(When::At(ms)) => {
                let moment = jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap();
                moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
            }
        }
    }

    #[test]
    fn times_of_day_are_read() {
        for (text, expected) in [
            (
                "You've hit your 5-hour limit · resets 12:46am (UTC)",
                "2026-11-16 00:46:00",
            ),
            ("resets 8pm (UTC)", "2026-11-15 20:00:00"),
            ("resets 7pm (UTC)", "2026-11-16 19:00:00"),
            ("resets 12am (UTC)", "2026-11-16 00:00:00"),
            ("resets 12pm (UTC)", "2026-11-16 12:00:00"),
            ("resets at 23:15", "2026-11-15 23:15:00"),
            ("resets 1am (Europe/Oslo)", "2026-11-16 00:00:00"),
            ("resets 3pm (America/New_York)", "2026-11-15 20:00:00"),
            ("resets 1am (Asia/Nowhere)", "nothing"),
            ("resets 9pm PST", "2026-11-16 05:00:00"),
            ("resets 9pm GMT+2", "2026-11-16 19:00:00"),
            ("resets 11pm (UTC+02:00)", "2026-11-15 21:00:00"),
            (
                "purchase more credits or try again at 9:26 PM.",
                "2026-11-15 21:26:00",
            ),
            ("try again at 9:26 AM.", "2026-11-16 09:26:00"),
            ("try again at 9:26\u{202f}PM.", "2026-11-15 21:26:00"),
            ("try again tomorrow at 9:26 PM", "2026-11-16 21:26:00"),
            // Within the named minute its end is meant, not tomorrow.
            ("resets 7:31pm (UTC)", "2026-11-15 19:32:00"),
            ("resets 25:00", "nothing"),
            ("resets 13pm", "nothing"),
            ("resets 9", "nothing"),
        ] {
            assert_eq!(shown(find_reset(text, &clock())), expected, "{text}");
        }
    }

    #[test]
    fn dates_are_read() {
        for (text, expected) in [
            (
                "try again at Sep 29th, 2027 12:55 AM.",
                "2027-09-29 00:55:00",
            ),
            (
                "try again at Nov 20th, 2026 12:55 AM.",
                "2026-11-20 00:55:00",
            ),
            ("resets Nov 20, 3pm (UTC)", "2026-11-20 15:00:00"),
            ("resets Nov 20 at 3pm (Europe/Oslo)", "2026-11-20 14:00:00"),
            ("resets Jan 2", "2027-01-02 00:00:00"),
            (
                "resets on 20 November 2026, 15:00 UTC",
                "2026-11-20 15:00:00",
            ),
            ("resets 2026-11-16T00:46:00Z", "2026-11-16 00:46:00"),
            (
                "resets at 2026-11-16T00:46:00.123+02:00",
                "2026-11-15 22:46:00",
            ),
            ("reset: 2026-11-16 00:46", "2026-11-16 00:46:00"),
            ("resets 2026-11-16", "2026-11-16 00:00:00"),
            (
                "retry-after: Sun, 15 Nov 2026 20:34:37 GMT",
                "2026-11-15 20:34:37",
            ),
            ("resets Monday at 9am", "2026-11-16 09:00:00"),
            ("resets Sun 9am", "2026-11-22 09:00:00"),
            ("resets Sun 9pm", "2026-11-15 21:00:00"),
            ("resets Feb 30", "nothing"),
        ] {
            assert_eq!(shown(find_reset(text, &clock())), expected, "{text}");
        }
    }

    #[test]
    fn epochs_and_durations_are_read() {
        for (text, expected) in [
            (
                "Claude AI usage limit reached|1794790000",
                "2026-11-16 00:46:40",
            ),
            ("resets at 1794790000", "2026-11-16 00:46:40"),
            ("resets_at: 1794790000123", "2026-11-16 00:46:40"),
            ("Please try again in 8s.", "after 8000 ms"),
            ("try again in 1.5s", "after 1500 ms"),
            ("Please retry in 5.0s.", "after 5000 ms"),
            ("Suggested retry after 5s.", "after 5000 ms"),
            ("try again in 250ms", "after 250 ms"),
            ("try again in 3 hours 20 minutes", "after 12000000 ms"),
            (
                "try again in 1 day, 2 hours and 5 minutes.",
                "after 93900000 ms",
            ),
            ("Your quota will reset after 3h20m10s.", "after 12010000 ms"),
            ("retry-after: 30", "after 30000 ms"),
            ("Retry after 7 seconds", "after 7000 ms"),
            ("try again in 99999999999999999999 days", "nothing"),
            ("try again later", "nothing"),
            ("try again in a moment", "nothing"),
            ("retry 3 times", "nothing"),
            ("Reached maximum number of turns (2)", "nothing"),
            ("resetting the connection at 9:26 PM", "nothing"),
            ("", "nothing"),
        ] {
            assert_eq!(shown(find_reset(text, &clock())), expected, "{text}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_the_machines() {
        for (hours, text, expected) in [
            (1, "try again at 9:26 PM", "2026-11-15 20:26:00"),
            (-8, "try again at 9:26 PM", "2026-11-16 05:26:00"),
            (9, "try again at 9:26 PM", "2026-11-16 12:26:00"),
            (9, "resets 9:26pm (UTC)", "2026-11-15 21:26:00"),
        ] {
            let clock = Clock {
                local_offset_secs: hours * HOUR,
                ..clock()
            };
            assert_eq!(
                shown(find_reset(text, &clock)),
                expected,
                "{hours} h: {text}"
            );
        }
    }
}
