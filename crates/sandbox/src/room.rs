//! Whether there is room on a disk.

use std::path::Path;

/// With less than this a disk counts as full: whatever is tried on it fails, or will soon.
const ROOM_BYTES_MIN: u64 = 512 * 1024;

/// Whether the disk that this folder is on has room; a folder that cannot be asked has, since
/// nothing is known against it.
pub fn has_room(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).map_or(true, |disk| {
        disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM_BYTES_MIN
    })
}
