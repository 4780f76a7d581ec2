//! The keeper: a small process, detached from the worker, that owns one running program and its
//! whole process tree.
//!
//! Everything about a run is in its run folder. So nothing is lost when the worker dies: the
//! program keeps running, and the next worker adopts it through the same files.
//!
//! | file | written by | content |
//! |---|---|---|
//! | `spec.json` | worker, [`prepare`] | what to run, and its limits |
//! | `keeper.lock` | keeper | empty; locked with `flock` as long as the keeper lives |
//! | `keeper.json` | keeper | which process the keeper is; written before the program starts |
//! | `stdout`, `stderr` | keeper | the beginning of the captured output, bounded |
//! | `stdout.N`, `stderr.N` | keeper | its end, from byte `N` on, bounded; [`output()`] reads both
//! |
//! | `stop` | worker, [`request_stop`] | its existence asks for a stop; the content is the reason |
//! | `exit.json` | keeper | how the run ended; written once, when the whole tree is gone |
//!
//! A run folder is for one run. Once `keeper.json` exists, no keeper starts the program again,
//! whatever happened to the first one: a new try gets a new folder. This crate does not decide
//! about retries, does not interpret output (a [`Watch`] that it is given may), and does not yet put
//! the program into a jail. It works on Linux only; elsewhere it refuses with
//! [`KeeperError::Unsupported`].

mod error;
mod files;
mod moments;
mod output;
mod records;
mod request;
mod room;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{keep, launch, look, sweep};
pub use error::KeeperError;
#[cfg(target_os = "linux")]
pub use linux::{keep, launch, look, sweep};
pub use moments::watch_writes;
pub use output::{Output, Piece, Stream, output, output_from};
pub use records::{
    ExitCause, ExitOutcome, ExitRecord, KeeperRecord, RUN_DIR_VARIABLE, RunSpec, RunView,
    StopSignal, Watch,
};
pub use request::{prepare, request_stop};
pub use room::has_room;
