//! Calendar arithmetic without zones and without a clock.
//!
//! Written out here because the crate needs three functions of it, which is not worth a dependency.
//! `days` and `date` are the usual day-count algorithms for the proleptic Gregorian calendar.

/// Days from 1970-01-01 to a date. `None` if the date does not exist.
pub(crate) fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1970..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || day < 1
        || day > month_days(year, month)
    {
        return None;
    }
    let (month, day) = (i64::from(month), i64::from(day));
    // Count years from March, so that the leap day is the last day of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    Some(365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
}

/// The year, month and day that lie `days` after 1970-01-01.
pub(crate) fn date(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    // The calendar repeats every 400 years, which are 146,097 days.
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (
        year,
        u32::try_from(month).unwrap_or(1),
        u32::try_from(day).unwrap_or(1),
    )
}

/// The day of the week, where Monday is 0.
pub(crate) fn weekday(days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (days + 3).rem_euclid(7)
}

fn month_days(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_is_found_again() {
        let mut expected = 0;
        for year in 1970..2370 {
            for month in 1..=12 {
                for day in 1..=month_days(year, month) {
                    assert_eq!(days(year, month, day), Some(expected));
                    assert_eq!(date(expected), (year, month, day));
                    expected += 1;
                }
            }
        }
    }

    #[test]
    fn there_is_no_such_day() {
        for (year, month, day) in [
            (2026, 2, 29),
            (2026, 13, 1),
            (2026, 4, 31),
            (2026, 1, 0),
            (1969, 12, 31),
        ] {
            assert_eq!(days(year, month, day), None, "{year}-{month}-{day}");
        }
        assert_eq!(weekday(0), 3, "1970-01-01 was a Thursday");
    }
}
