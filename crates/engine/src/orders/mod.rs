//! One file per order. Each may be carried out twice, and finds what its earlier self has done.

pub(crate) mod announce;
pub(crate) mod authored;
mod commit_message;
pub(crate) mod end;
pub(crate) mod integrate;
mod leaks;
pub(crate) mod make_accepted;
pub(crate) mod make_candidate;
pub(crate) mod make_tests;
mod move_branch;
pub(crate) mod prepare;
pub(crate) mod publish;
pub(crate) mod restack;
pub(crate) mod retract;
pub(crate) mod run;
pub(crate) mod skip;
pub(crate) mod stop_run;
