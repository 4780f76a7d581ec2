//! Moments as the program tells them, as numbers again.

/// Milliseconds since 1970 of a moment such as `2026-11-17T05:00:00.000Z`.
pub fn ms_of(moment: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| -> i64 {
        let digits = moment.get(range).expect("a moment as ISO 8601 writes it");
        digits.parse().expect("digits")
    };
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    // Years begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469;
    let secs = (number(11..13) * 60 + number(14..16)) * 60 + number(17..19);
    (days * 86_400 + secs) * 1000 + number(20..23)
}

#[cfg(test)]
mod tests {
    use super::ms_of;

    #[test]
    fn a_moment_is_a_number_again() {
        for (moment, at_ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T00:00:00.000Z", 951_782_400_000),
            ("2026-12-31T23:59:59.999Z", 1_798_761_599_999),
        ] {
            assert_eq!(ms_of(moment), at_ms, "{moment}");
        }
    }
}
