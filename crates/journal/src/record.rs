//! What goes into the journal and what comes out of it. Neither form knows its checksum: that is
//! the journal's affair.

/// A record that is about to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// When it happened, in milliseconds since 1970, by the clock of the caller.
    pub at_ms: i64,
    /// What sort of record it is; the journal does not look at it.
    pub kind: &'a str,
    /// The content, as JSON text; the journal does not look at it either.
    pub body: &'a str,
}

/// A record that was read back, its checksum found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in its loop; the first record has number 1.
    pub number: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What sort of record it is.
    pub kind: String,
    /// The content, as JSON text.
    pub body: String,
}
