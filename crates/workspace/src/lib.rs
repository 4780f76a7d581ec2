//! The operator's files, and (in time) the private checkouts of a loop.
//!
//! What is in the operator's own folder is touched only through [`operator_file`], and only to replace one file as a
//! whole. This crate knows no PRD and no story.

pub mod operator_file;
