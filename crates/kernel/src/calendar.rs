//! A moment as a date and a time in UTC, as programs and people write it. No clock is asked: the moment
//! comes in as a value.

/// The date of a day, counted from 1970, as year, month and day: eras of 400 years, each year
/// beginning in March so that the leap day is last.
pub fn date(days: i64) -> (i64, i64, i64) {
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

/// A moment, in milliseconds since 1970, as ISO 8601 writes it: `2026-11-17T05:00:00.000Z`.
pub fn iso(at_ms: i64) -> String {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let (days, of_day) = (at_ms.div_euclid(DAY_MS), at_ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (seconds, milliseconds) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as() {
        for (at_ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
            (1_794_891_600_000, "2026-11-17T05:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(at_ms), expected);
        }
    }
}
