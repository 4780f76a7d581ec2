//! Divides the room for patches among them.

/// A patch that is shown gets at least this, or all that it needs.
const SHARE_BYTES_MIN: usize = 600;

/// The bytes that each patch may use, given the bytes that it needs; none if it is not shown.
///
/// Small patches are shown whole, and large ones share the rest evenly. If there are so many that
/// this would leave each with next to nothing, the first ones are shown.
pub(crate) fn shares(needs: &[usize], bytes_max: usize) -> Vec<Option<usize>> {
    let mut left = bytes_max;
    let mut shares: Vec<_> = needs
        .iter()
        .map(|need| {
            let first = (*need).min(SHARE_BYTES_MIN);
            left = left.checked_sub(first)?;
            Some(first)
        })
        .collect();
    let mut wanting: Vec<_> = (0..needs.len())
        .filter(|index| shares[*index].is_some_and(|share| share < needs[*index]))
        .collect();
    wanting.sort_by_key(|index| needs[*index]);
    for (n_done, index) in wanting.iter().enumerate() {
        let more = left / (wanting.len() - n_done);
        let more = more.min(needs[*index] - SHARE_BYTES_MIN);
        left -= more;
        shares[*index] = Some(SHARE_BYTES_MIN + more);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_divided() {
        for (needs, bytes_max, expected) in [
            (&[][..], 100, &[][..]),
            (&[10, 20], 100, &[Some(10), Some(20)]),
            (&[10_000, 20, 10], 5000, &[Some(4970), Some(20), Some(10)]),
            (&[9000, 50, 8000], 5000, &[Some(2475), Some(50), Some(2475)]),
            (
                &[9000, 700, 8000],
                4000,
                &[Some(1650), Some(700), Some(1650)],
            ),
            (
                &[900, 900, 900, 10],
                1000,
                &[Some(900), None, None, Some(10)],
            ),
            (&[10], 0, &[None]),
        ] {
            let expected = expected.to_vec();
            assert_eq!(shares(needs, bytes_max), expected, "{needs:?}");
        }
    }
}
