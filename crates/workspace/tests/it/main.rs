//! Tests of the public API with real repositories in scratch folders, the real `git` and hostile
//! agents.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod agent;
mod big;
mod compose;
mod content;
mod create;
mod diff;
mod hostile;
mod ignore;
mod links;
mod overlay;
mod project;
mod publish;
mod rack;
mod reader;
mod refs;
mod renames;
mod restack;
mod snapshot;
mod support;
mod trailers;
mod written;
