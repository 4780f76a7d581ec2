//! How long a limit is waited out. Pure.

/// The first wait where nobody says how long.
const FIRST_MS: i64 = 60_000;
/// The longest such wait.
const LONGEST_MS: i64 = 600_000;

/// How long to wait after the `n`-th limit in a row, counted from 0. A reset time that the agent told
/// is honoured as it is.
pub(super) fn wait_ms(n_before: u32, until_ms: Option<i64>, now_ms: i64) -> i64 {
    let doubled = FIRST_MS.saturating_mul(1_i64 << n_before.min(10));
    match until_ms {
        Some(until_ms) => until_ms.saturating_sub(now_ms).max(0),
        None => doubled.min(LONGEST_MS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_waited_out() {
        for (n_before, until_ms, expected) in [
            (0, None, 60_000),
            (1, None, 120_000),
            (3, None, 480_000),
            (4, None, 600_000),
            (40, None, 600_000),
            (0, Some(1_005_000), 5_000),
            (5, Some(8_200_000), 7_200_000),
            (0, Some(900_000), 0),
        ] {
            let waited = wait_ms(n_before, until_ms, 1_000_000);
            assert_eq!(waited, expected, "{n_before} before, until {until_ms:?}");
        }
    }
}
