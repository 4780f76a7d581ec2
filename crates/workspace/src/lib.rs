//! The operator's files, and the private repository and checkouts of a loop: the one caller of `git`.
//!
//! What is in the operator's own folder is touched only through [`operator_file`], to replace one file as a whole, and
//! through [`LoopRepo::publish`], to add objects and move one branch of ours. What an agent wrote is read as files and
//! never as a repository. This crate knows no PRD and no story, and it decides nothing.

mod agent_repo;
mod error;
mod gather;
mod git;
mod id;
mod ignore;
mod loop_repo;
mod moments;
mod new_repository;
pub mod operator_file;
mod patience;
mod project;
mod publish;
mod refs;
mod reserved;
mod scratch;
mod snapshot;
mod store;
mod walk;

pub use error::GitError;
pub use id::{CommitId, TreeId};
pub use loop_repo::LoopRepo;
pub use moments::watch_changes;
pub use new_repository::init_repository;
pub use project::{ProjectView, git_version, look_at_project};
pub use publish::Published;
pub use refs::{Moved, ref_component};
pub use snapshot::{LeftOut, Reason, Snapshot};
