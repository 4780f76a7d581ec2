//! The one owner of `SQLite`: an append-only log of records per loop, and the leases that say who
//! may write.
//!
//! A record is a kind and a body, both opaque: what they mean is for the kernel to say. Several
//! processes may have the same journal open; what one of them was told is stored survives `kill -9`
//! and a power cut, and every record is chained to the one before by a checksum, so that damage is
//! found and named instead of replayed.
//!
//! There is no clock here (times come in as values), no retry, no cache and no decision about what
//! a damaged loop should become: the caller reads [`ReadError::Corrupt`] and asks for
//! [`Journal::quarantine`].
//!
//! ```
//! use journal::{Journal, NewRecord};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?; let journal = Journal::open(&folder.path().join("state"))?;
//! let planned = NewRecord { at_ms: 1_700_000_000_000, kind: "StoryPlanned", body:
//! r#"{"story":"login-1"}"# }; let last = journal.append("loop-1", 0, None, &[planned])?;
//! assert_eq!(last, 1); assert_eq!(journal.read("loop-1", 0)?[0].kind, "StoryPlanned");
//! # Ok(())
//! # }
//! ```

mod append;
mod checksum;
mod connection;
mod error;
mod files;
mod journal;
mod lease;
mod loops;
mod read;
mod record;
mod schema;

pub use error::{AppendError, JournalError, ReadError};
pub use journal::Journal;
pub use lease::Fence;
pub use loops::LoopRow;
pub use record::{NewRecord, Record};
