//! The checksum that chains a record to the one before.
//!
//! It detects damage, not tampering: anybody who can write the file can also compute new checksums.

use crate::record::NewRecord;

/// Covers a record's loop, its number, its content and everything before it.
pub(crate) type Checksum = [u8; 32];

/// The checksum before the first record of a loop.
pub(crate) const START: Checksum = [0; 32];

/// Computes the checksum of a record. Existing files depend on it, so it must never change within a
/// schema version.
pub(crate) fn checksum(
    loop_id: &str,
    number: u64,
    record: &NewRecord<'_>,
    before: &Checksum,
) -> Checksum {
    let mut hasher = blake3::Hasher::new();
    // Loop and number are part of it, so that a good record in the wrong place is found too.
    update_text(&mut hasher, loop_id);
    hasher.update(&number.to_le_bytes());
    hasher.update(&record.at_ms.to_le_bytes());
    update_text(&mut hasher, record.kind);
    update_text(&mut hasher, record.body);
    hasher.update(before);
    *hasher.finalize().as_bytes()
}

/// Hashes the length before the text. Without it, `("ab", "c")` and `("a", "bc")` would have the
/// same checksum.
pub(crate) fn update_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_part_changes_the_checksum() {
        let of = |loop_id, number, at_ms, kind, body, before| {
            checksum(loop_id, number, &NewRecord { at_ms, kind, body }, &before)
        };
        let sums = [
            of("a", 1, 7, "kind", "body", START),
            of("b", 1, 7, "kind", "body", START),
            of("a", 2, 7, "kind", "body", START),
            of("a", 1, 8, "kind", "body", START),
            of("a", 1, 7, "king", "body", START),
            of("a", 1, 7, "kind", "bodi", START),
            of("a", 1, 7, "kind", "body", [1; 32]),
            of("a", 1, 7, "kindb", "ody", START),
        ];
        assert_eq!(sums.iter().collect::<BTreeSet<_>>().len(), sums.len());
    }

    /// Fails if the checksum function changes, before any existing journal becomes unreadable.
    #[test]
    fn the_checksum_of_version_1_stays() {
        let record = NewRecord {
            at_ms: 1_700_000_000_000,
            kind: "Started",
            body: "{}",
        };
        let sum = blake3::Hash::from_bytes(checksum("loop-1", 1, &record, &START));
        assert_eq!(
            sum.to_hex().as_str(),
            "a90466355be96a252942cac04b11c7fefc9a403fcd61de9da1c46061d7d74618"
        );
    }
}
