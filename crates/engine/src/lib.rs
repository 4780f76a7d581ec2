//! Carries out what the kernel orders, and records what came of it.
//!
//! ```text
//! kernel ── Order ─▶ carry_out ─▶ orders/* ─▶ ports: runs · repositories
//!    ▲                                            │
//!    └── Event ◀── log ◀── local::worker (turn) ◀─┘
//! ```
//!
//! An order is complete: whoever carries it out sees neither the state nor the history. So deeds may
//! be done on threads, in another process, or against ports that live in memory.

mod carry_out;
mod fault;
mod local;
mod measure;
mod orders;
mod ports;
mod ralph;
mod redaction;
mod run;
mod settings_of;

pub use carry_out::carry_out;
pub use fault::Fault;
pub use local::deeds::Execution;
pub use local::repository::GitRepositories;
pub use local::runs::KeptRuns;
pub use local::slots::{Busy, Limits, RECORDS_PER_TURN_MAX, open_now};
pub use local::sweep::Swept;
pub use local::tracked::Tracked;
pub use local::worker::{Hindrance, Turn, Worker, WorkerError};
pub use measure::measure;
pub use ports::{Clock, Log, Look, Ports, Repositories, Repository, Runs, TreeFiles};
pub use ralph::{End, Notice, OnFailure, RalphPlan, Summary, ralph};
pub use run::measurement::{CheckPlan, Report, Trees};
