//! Checks whether a disk is full.
//!
//! It asks the file system, and does not guess from the error message of a program that failed.

use std::path::Path;

/// With less free space a disk counts as full: any write fails, or will fail soon.
const ROOM_BYTES_MIN: u64 = 512 * 1024;

/// Whether the disk of this folder has free space. If that cannot be determined, the answer is yes:
/// without evidence nobody should wait for a full disk.
pub fn has_room(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).map_or(true, |disk| {
        disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM_BYTES_MIN
    })
}
