//! A moment as programs write it. No clock is asked: the moment comes in as a value.

use jiff::Timestamp;

/// A moment, in milliseconds since 1970, as ISO 8601 writes it: `2026-11-17T05:00:00.000Z`. One that
/// lies beyond the years that have four digits is the last of them.
pub fn iso(at_ms: i64) -> String {
    let beyond = if at_ms < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    let moment = Timestamp::from_millisecond(at_ms).unwrap_or(beyond);
    format!("{moment:.3}")
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
        assert!(iso(i64::MAX).starts_with("9999-12-"), "{}", iso(i64::MAX));
    }
}
