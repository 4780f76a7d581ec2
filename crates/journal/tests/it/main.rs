//! Tests of the public API: errors, comparison with a model, races, damage, full disks, killed
//! processes and old files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cache;
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
