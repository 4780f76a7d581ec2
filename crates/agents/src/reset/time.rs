//! Reads a point in time as people write it: a day, a time of day and a zone, each of which may be
//! missing.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan as _};

use super::scan::Scan;
use crate::exit::Clock;

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The zones that RFC 822 defines, in hours from UTC. Other abbreviations are ambiguous.
const ZONES: [(&str, i64); 12] = [
    ("utc", 0),
    ("gmt", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// What a time of day means that has already passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Passed {
    /// It means tomorrow.
    #[default]
    IsTomorrow,
    /// The limit is over: this CLI names the day if it is not today.
    IsOver,
}

/// The day that a text names.
enum Day {
    /// No day is named.
    Any,
    /// Days from today: 0 for `today`, 1 for `tomorrow`.
    Ahead(i64),
    /// The next day with this name.
    Weekday(Weekday),
    /// A month and a day without a year: this year's or the next one's.
    OfMonth(u32, u32),
    /// A full date.
    Date(Date),
}

/// Reads a point in time, in milliseconds since 1970.
pub(super) fn read(scan: &mut Scan<'_>, passed: Passed, clock: &Clock) -> Option<u64> {
    let day = read_day(scan);
    scan.skip_blanks();
    if scan.peek_word() == Some("at") {
        scan.word();
        scan.skip_blanks();
    }
    let mut ahead = *scan;
    let time = read_time(&mut ahead);
    if time.is_some() {
        *scan = ahead;
    }
    // A date alone means its midnight. A weekday or `tomorrow` alone is too vague to wait for.
    if time.is_none() && !matches!(day, Day::Date(_) | Day::OfMonth(..)) {
        return None;
    }
    let offset = Offset::from_seconds(i32::try_from(read_zone(scan, clock)?).ok()?).ok()?;
    let now = Timestamp::from_second(i64::try_from(clock.now_ms / 1000).ok()?).ok()?;
    let time = time.unwrap_or(Time::midnight());
    let at = settle(&day, time, offset.to_datetime(now), passed)?;
    u64::try_from(offset.to_timestamp(at).ok()?.as_millisecond()).ok()
}

/// Combines a day and a time of day into a moment of the same zone as `now`.
fn settle(day: &Day, time: Time, now: DateTime, passed: Passed) -> Option<DateTime> {
    let today = now.date();
    let at = |day: Date| day.to_datetime(time);
    match *day {
        Day::Date(day) => Some(at(day)),
        Day::Ahead(n) => today.checked_add(n.days()).ok().map(at),
        Day::Weekday(name) => {
            let is_today = today.weekday() == name && at(today) > now;
            let next = || today.nth_weekday(1, name).ok();
            (if is_today { Some(today) } else { next() }).map(at)
        }
        Day::OfMonth(month, day) => {
            let year = u32::try_from(today.year()).ok()?;
            let this_year = date(year, month, day).map(at).filter(|&at| at > now);
            this_year.or_else(|| date(year + 1, month, day).map(at))
        }
        Day::Any if passed == Passed::IsOver => Some(at(today)),
        Day::Any => next_time_of_day(at(today), now),
    }
}

/// The next time it is this time of day. Within the named minute the time has not passed yet:
/// seconds are not written, so the minute's end is meant at the latest.
fn next_time_of_day(today: DateTime, now: DateTime) -> Option<DateTime> {
    let end_of_minute = today.checked_add(1.minute()).ok()?;
    if today > now {
        Some(today)
    } else if now < end_of_minute {
        Some(end_of_minute)
    } else {
        today.checked_add(1.day()).ok()
    }
}

/// A date, if there is such a day.
fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let (year, month, day) = (
        year.try_into().ok()?,
        month.try_into().ok()?,
        day.try_into().ok()?,
    );
    Date::new(year, month, day).ok()
}

fn read_day(scan: &mut Scan<'_>) -> Day {
    let mut ahead = *scan;
    let day = try_day(&mut ahead);
    if day.is_some() {
        *scan = ahead;
    }
    day.unwrap_or(Day::Any)
}

fn try_day(scan: &mut Scan<'_>) -> Option<Day> {
    if let Some(date) = read_iso_date(scan) {
        return Some(date);
    }
    if let Some(word) = scan.peek_word() {
        if let Some(n) = ["today", "tomorrow"].iter().position(|name| *name == word) {
            scan.word();
            return Some(Day::Ahead(i64::try_from(n).ok()?));
        }
        if let Some(name) = name_index(&WEEKDAYS, word) {
            scan.word();
            scan.take('.');
            scan.skip_blanks();
            // In `Sun, 15 Nov 2026` the date is more exact than the weekday.
            let mut ahead = *scan;
            let date = read_written_date(&mut ahead);
            if date.is_some() {
                *scan = ahead;
            }
            let weekday = Weekday::from_monday_zero_offset(i8::try_from(name).ok()?).ok()?;
            return date.or(Some(Day::Weekday(weekday)));
        }
    }
    read_written_date(scan)
}

/// Reads `2026-11-16`, and the `t` that separates it from a time.
fn read_iso_date(scan: &mut Scan<'_>) -> Option<Day> {
    let mut ahead = *scan;
    let year = ahead.number(4).filter(|year| *year >= 1970)?;
    let month = if ahead.take('-') {
        ahead.number(2)?
    } else {
        return None;
    };
    let day = if ahead.take('-') {
        ahead.number(2)?
    } else {
        return None;
    };
    ahead.take('t');
    *scan = ahead;
    date(year, month, day).map(Day::Date)
}

/// Reads `Sep 29th, 2026` or `29 September 2026`, with or without the year.
fn read_written_date(scan: &mut Scan<'_>) -> Option<Day> {
    let mut ahead = *scan;
    let first = ahead.number(2);
    if first.is_some() {
        skip_ordinal(&mut ahead);
        ahead.skip_blanks();
    }
    let month = u32::try_from(name_index(&MONTHS, ahead.word()?)? + 1).ok()?;
    ahead.take('.');
    ahead.skip_blanks();
    let day = match first {
        Some(day) => day,
        None => {
            let day = ahead.number(2)?;
            skip_ordinal(&mut ahead);
            day
        }
    };
    let mut beyond = ahead;
    beyond.skip_blanks();
    let year = beyond.number(4).filter(|year| *year >= 1970);
    *scan = if year.is_some() { beyond } else { ahead };
    match year {
        Some(year) => date(year, month, day).map(Day::Date),
        None => Some(Day::OfMonth(month, day)),
    }
}

fn skip_ordinal(scan: &mut Scan<'_>) {
    if scan
        .peek_word()
        .is_some_and(|word| ["st", "nd", "rd", "th"].contains(&word))
    {
        scan.word();
    }
}

/// The index of a name, which may be abbreviated to as few as three letters.
fn name_index(names: &[&str], word: &str) -> Option<i64> {
    let at = names
        .iter()
        .position(|name| word.len() >= 3 && name.starts_with(word))?;
    i64::try_from(at).ok()
}

/// Reads a time of day: `9:26 pm`, `3pm`, `15:00`, `00:46:00.123`. A bare number is not
/// a time.
fn read_time(scan: &mut Scan<'_>) -> Option<Time> {
    let hour = scan.number(2)?;
    let has_minutes = scan.take(':');
    let minute = if has_minutes { scan.number(2)? } else { 0 };
    let second = if has_minutes && scan.take(':') {
        scan.number(2)?
    } else {
        0
    };
    // Skip a fraction, but leave the full stop of a sentence alone.
    if scan.rest().starts_with('.') && scan.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) {
        scan.take('.');
        scan.digits();
    }
    let mut ahead = *scan;
    ahead.skip_blanks();
    let hour = match ahead.word() {
        Some(half @ ("am" | "pm" | "a" | "p")) if (1..=12).contains(&hour) => {
            *scan = ahead;
            hour % 12 + if half.starts_with('p') { 12 } else { 0 }
        }
        // `13pm` is a misreading.
        Some("am" | "pm") => return None,
        _ if has_minutes => hour,
        _ => return None,
    };
    let part = |number: u32| i8::try_from(number).ok();
    // A leap second is not a time that a limit ends at.
    (second < 60).then(|| Time::new(part(hour)?, part(minute)?, part(second)?, 0).ok())?
}

/// The offset of the zone that follows, in seconds: the machine's own if none is named, `None` if
/// the zone is unknown.
fn read_zone(scan: &mut Scan<'_>, clock: &Clock) -> Option<i64> {
    let local = i64::from(clock.local_offset_secs);
    let text = scan.rest().trim_start();
    if let Some(inside) = text.strip_prefix('(') {
        return named_zone(inside.split(')').next()?.trim(), clock);
    }
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-:".contains(c)))
        .unwrap_or(text.len());
    let word = text[..end].trim_end_matches([':', '-']);
    // `Asia/Nowhere` is a zone even if it is unknown. Any other unknown word just goes on with the
    // sentence, and then no zone was named.
    if word.contains('/') && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return named_zone(word, clock);
    }
    Some(named_zone(word, clock).unwrap_or(local))
}

fn named_zone(name: &str, clock: &Clock) -> Option<i64> {
    let known = clock
        .zones
        .iter()
        .find(|(zone, _)| zone.eq_ignore_ascii_case(name));
    if let Some((_, offset)) = known {
        return Some(i64::from(*offset));
    }
    let end = name.find(['+', '-']).unwrap_or(name.len());
    let (base, offset) = name.split_at(end);
    if base.is_empty() && offset.is_empty() {
        return None;
    }
    let base_hours = if base.is_empty() {
        0
    } else {
        ZONES.iter().find(|(zone, _)| *zone == base)?.1
    };
    let offset_secs = if offset.is_empty() {
        0
    } else {
        read_offset(offset)?
    };
    Some(base_hours * HOUR + offset_secs)
}

/// Reads `+02:00`, `+0200` or `-8` as seconds.
fn read_offset(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    let number: i64 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() > 2 {
        (number / 100, number % 100)
    } else {
        (number, 0)
    };
    // No zone is further than 14 hours from UTC.
    (hours <= 14 && minutes < 60).then_some(sign * (hours * HOUR + minutes * MINUTE))
}
