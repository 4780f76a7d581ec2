//! The keeper: a tiny process, detached from the worker, that owns one running program and its
//! whole tree.
//!
//! All it knows is in one run folder, so that a worker that dies costs nothing: the program goes
//! on, and the next worker adopts it through the same files.
//!
//! | file | written by | says |
//! |---|---|---|
//! | `spec.json` | worker, [`prepare`] | what to run and within which limits |
//! | `keeper.lock` | keeper | held by `flock` as long as the keeper lives |
//! | `keeper.json` | keeper | which process keeps the run; written before the program starts |
//! | `stdout`, `stderr` | keeper | the beginning of the captured output, bounded |
//! | `stdout.N`, `stderr.N` | keeper | its end, from byte `N` on, bounded; [`output`] reads all of it |
//! | `stop` | worker, [`request_stop`] | the run must end; the content is the reason |
//! | `exit.json` | keeper | how it ended; written once, after the whole tree is gone |
//!
//! A run folder is for one run. Once `keeper.json` is there no keeper starts the program again,
//! whatever became of the first: a new try gets a new folder. This crate does not decide whether a
//! run is tried again, reads no output, and does not yet put the program into a jail. It works on
//! Linux; elsewhere it says that it does not.

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
pub use output::{Output, Piece, Stream, output};
pub use records::{
    ExitCause, ExitOutcome, ExitRecord, KeeperRecord, RUN_DIR_VARIABLE, RunSpec, RunView,
    StopSignal,
};
pub use request::{prepare, request_stop};
pub use room::has_room;
