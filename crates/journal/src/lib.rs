//! An append-only log of records per loop, and the leases that say who may write. No other crate
//! uses `SQLite`.
//!
//! A record is a kind and a body. The journal does not interpret either; the kernel does. Several
//! processes may have the same journal open. Once an append has returned, its records survive
//! `kill -9` and a power cut. A checksum chains every record to the one before, so that damage is
//! found and named instead of replayed.
//!
//! There is no clock here (times come in as values) and no retry. What to do with a damaged loop is
//! up to the caller, who gets [`ReadError::Corrupt`] and can ask for [`Journal::quarantine`].
//! [`Cache`] is a file of its own that may be deleted at any time; no record ever depends on it.
//!
//! ```
//! use journal::{Journal, NewRecord};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let journal = Journal::open(&folder.path().join("state"))?;
//! let planned = NewRecord {
//!     at_ms: 1_700_000_000_000,
//!     kind: "StoryPlanned",
//!     body: r#"{"story":"login-1"}"#,
//! };
//! let last = journal.append("loop-1", 0, None, &[planned])?;
//! assert_eq!(last, 1);
//! assert_eq!(journal.read("loop-1", 0)?[0].kind, "StoryPlanned");
//! # Ok(())
//! # }
//! ```

mod append;
mod cache;
mod checksum;
mod connection;
mod error;
mod files;
mod journal;
mod lease;
mod log_guard;
mod loops;
mod read;
mod record;
mod schema;

pub use cache::{Brief, Cache, Recalled, Remembered};
pub use error::{AppendError, JournalError, ReadError};
pub use journal::Journal;
pub use lease::Fence;
pub use loops::{Fingerprint, LoopHead, LoopRow};
pub use record::{NewRecord, Record};
