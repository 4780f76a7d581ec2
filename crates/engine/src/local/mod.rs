//! The embedded engine: one worker per state folder, keepers, git and `SQLite`.

pub(crate) mod deeds;
pub(crate) mod log;
pub(crate) mod patience;
pub(crate) mod repository;
pub(crate) mod runs;
pub(crate) mod slots;
pub(crate) mod sweep;
pub(crate) mod tracked;
pub(crate) mod waker;
pub(crate) mod worker;
