//! Moments as the program tells them, as numbers again.

/// Milliseconds since 1970 of a moment such as `2026-11-17T05:00:00.000Z`.
pub fn ms_of(moment: &str) -> i64 {
    let moment: jiff::Timestamp = moment.parse().expect("a moment as ISO 8601 writes it");
    moment.as_millisecond()
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
