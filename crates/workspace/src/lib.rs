//! The operator's files, and a loop's private repository and checkouts. No other crate runs `git`.
//!
//! Only two functions change anything in the operator's folder: [`operator_file::replace`] replaces
//! one file as a whole, and [`LoopRepo::publish`] adds objects and moves one branch of ours. An
//! agent's work is read as plain files, never as a git repository. This crate knows nothing about
//! PRDs or stories and makes no decisions.

mod agent_repo;
mod blobs;
mod branch_name;
mod changes;
mod compose;
mod content;
mod conversation;
mod diff;
mod edit_tree;
mod entry;
mod error;
mod filters;
mod for_people;
mod gather;
mod git;
mod heard;
mod id;
mod ignore;
mod left_out;
mod limits;
mod links;
mod loop_repo;
mod memory;
mod mend;
mod merge;
mod moments;
mod new_repository;
mod operator;
pub mod operator_file;
mod overlay;
mod places;
mod project;
mod publish;
mod rack;
mod reader;
mod refs;
mod renames;
mod reserved;
mod restack;
mod scratch;
mod seal;
mod signature;
mod snapshot;
mod stamps;
mod store;
mod submodules;
mod trailers;
mod untouched;
mod walk;
mod watchdog;
mod written;
mod written_git;

pub use branch_name::{BranchTrouble, branch_trouble};
pub use changes::Change;
pub use compose::Edit;
pub use content::check_content;
pub use entry::{Entry, Mode, TreeLike};
pub use error::GitError;
pub use id::{CommitId, ObjectId, TreeId};
pub use left_out::{LeftOut, Oddity, Reason};
pub use limits::Limits;
pub use links::{BadLink, LinkTrouble};
pub use loop_repo::LoopRepo;
pub use memory::Memory;
pub use moments::{moment, watch_changes};
pub use new_repository::init_repository;
pub use operator::operator_signature;
pub use overlay::{Conflict, Overlay};
pub use project::{
    ProjectView, git_version, is_same_repository, is_tracked, look_at_project, work_mark, work_tree,
};
pub use publish::Published;
pub use rack::{Leftovers, Rack};
pub use reader::{Listed, TreeReader, read_commit};
pub use refs::{Moved, read_branch, ref_component};
pub use restack::{Overlap, Restacked};
pub use seal::{is_sealed, seal};
pub use signature::Signature;
pub use snapshot::Snapshot;
pub use trailers::{BranchTrailers, trailers_beyond, trailers_of};
pub use watchdog::abortable;
pub use written::{TreeStore, WrittenTree};
