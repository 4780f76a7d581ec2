//! The operator's files, and the private repository and checkouts of a loop: the one caller of
//! `git`.
//!
//! What is in the operator's own folder is touched only through [`operator_file`], to replace one
//! file as a whole, and through [`LoopRepo::publish`], to add objects and move one branch of ours.
//! What an agent wrote is read as files and never as a repository. This crate knows no PRD and no
//! story, and it decides nothing.

mod agent_repo;
mod blobs;
mod changes;
mod compose;
mod entry;
mod error;
mod gather;
mod git;
mod id;
mod ignore;
mod loop_repo;
mod memory;
mod merge;
mod moments;
mod new_repository;
pub mod operator_file;
mod overlay;
mod patience;
mod project;
mod publish;
mod reader;
mod refs;
mod reserved;
mod scratch;
mod snapshot;
mod store;
mod trailers;
mod walk;

pub use changes::Change;
pub use compose::Edit;
pub use entry::{Entry, Mode, TreeLike};
pub use error::GitError;
pub use id::{CommitId, ObjectId, TreeId};
pub use loop_repo::LoopRepo;
pub use memory::Memory;
pub use moments::watch_changes;
pub use new_repository::init_repository;
pub use overlay::{Conflict, Overlay};
pub use project::{ProjectView, git_version, look_at_project};
pub use publish::Published;
pub use reader::{Listed, TreeReader};
pub use refs::{Moved, ref_component};
pub use snapshot::{LeftOut, Reason, Snapshot};
pub use trailers::{BranchTrailers, trailers_beyond, trailers_of};
