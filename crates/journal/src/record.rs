//! Records as they go into the journal and as they come out. Checksums are internal to the journal
//! and not part of either.

/// A record that is about to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// When it happened, in milliseconds since 1970, by the caller's clock.
    pub at_ms: i64,
    /// The kind of record; the journal does not interpret it.
    pub kind: &'a str,
    /// The content as JSON text; the journal does not interpret it either.
    pub body: &'a str,
}

/// A record that was read back and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number within its loop, starting at 1.
    pub number: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// The kind of record.
    pub kind: String,
    /// The content as JSON text.
    pub body: String,
}
