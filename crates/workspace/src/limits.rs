//! How much of a checkout is read.
//!
//! An agent may leave anything behind, by accident or on purpose. What is too much by itself is left
//! out and reported. What is too much altogether is refused as a whole: no part of it would be the
//! agent's work. Whatever the base has counts against no limit.

/// Limits of one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Names beyond those of the base; ignored folders count as one.
    pub names_max: usize,
    /// Names of one path that the base does not track.
    pub depth_max: usize,
    /// Bytes of one path that the base does not track.
    ///
    /// Git and our shadow folders use whole paths, which the system limits. The difference to that
    /// limit is left for the path of the checkout itself.
    pub path_bytes_max: usize,
    /// Bytes of one file, unless the base has one at least as large at its path.
    pub file_bytes_max: u64,
    /// Bytes of all files beyond those of the base.
    pub total_bytes_max: u64,
    /// Bytes of all `.gitignore` files beyond those of the base. Each is copied for git to read.
    pub rules_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            names_max: 500_000,
            depth_max: 100,
            path_bytes_max: if cfg!(target_os = "macos") { 700 } else { 3000 },
            file_bytes_max: 100 * 1024 * 1024,
            total_bytes_max: 2 * 1024 * 1024 * 1024,
            rules_bytes_max: 8 * 1024 * 1024,
        }
    }
}
