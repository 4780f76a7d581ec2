//! The state folder, and everything that faces need of it: where things lie, what the journal says
//! of a loop, and the requests that a face may write.
//!
//! Faces (the command line, later a dashboard) use this crate and never the engine. Nothing here
//! carries out an order: a request is a record, and the worker answers it.

mod commit_subject;
mod disk;
mod folder;
mod inside_run;
mod keys;
mod load;
mod places;
mod prd_file;
mod program;
mod progress;
mod requests;
mod retention;
mod role_settings;
mod sandbox_settings;
mod scrap;
mod secrets;
mod settings;
mod utc;
mod wake;
mod warm;
mod words;
mod worker;

pub use commit_subject::{
    BadSubject, CommitSettings, PLACEHOLDERS, Subject, SubjectFacts, USUAL_SUBJECT, check_subject,
    plain_line, subject,
};
pub use disk::{DiskUse, ENTRIES_MAX, disk_use};
pub use folder::{Home, RunName};
pub use inside_run::surrounding_run;
pub use keys::{Keys, forget_keys, keep_keys, read_keys};
pub use load::{LoadError, Loaded, event_of, load};
pub use places::relative;
pub use prd_file::{PrdFile, read_prd, swap_status, write_back, write_back_for_review};
pub use program::our_program;
pub use progress::{Ended, append_progress, one_line, progress};
pub use requests::{RequestError, request, start, takes};
pub use retention::{Expiry, expiry};
pub use role_settings::{RoleSettings, Roles};
pub use sandbox_settings::{NetworkPolicy, SandboxKind, SandboxLimits, SandboxSettings};
pub use scrap::remove_folder;
pub use secrets::{
    Found, Known, Redacting, Redactor, Secret, Token, keep_tokens_in_mind, secrets_seen,
};
pub use settings::{
    AgentSettings, CheckSettings, FlagSettings, Policies, Policy, Settings, TREES_MB, Trees, Warm,
};
pub use utc::{iso, local, local_offset_secs, now_ms, utc};
pub use wake::{WakePipe, hurry_worker, wake_worker};
pub use warm::WarmTrust;
pub use words::{plain, words_of};
pub use worker::{
    LEAVING_VARIABLE, WorkerState, ensure_worker, is_waking_off, is_worker_there,
    note_worker_fault, sign_lock, wait_beside, worker_fault, worker_state,
};
