//! Times: now, and any of them as people write it.

use std::time::SystemTime;

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Date and time with their zone, which is always UTC: `2026-01-31 09:30 UTC`.
pub fn utc(at_ms: i64) -> String {
    let minutes = at_ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        minute / 60,
        minute % 60
    )
}

/// The date of a day, counted from 1970: eras of 400 years, each year beginning in March so that
/// the leap day is last.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
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
}
