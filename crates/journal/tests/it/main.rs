//! The journal seen from outside: its errors, a model, races, damage, full disks, killed processes,
//! old files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod child;
mod corruption;
mod errors;
mod files;
mod formats;
mod full_disk;
mod kill;
mod lease;
mod model;
mod race;
mod support;
