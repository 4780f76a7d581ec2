//! Puts the listing and the patches together.

use super::listing::listing;
use super::patches::patches;
use crate::entry::TreeLike;
use crate::error::GitError;
use crate::loop_repo::LoopRepo;

impl LoopRepo {
    /// The difference between two trees: a listing of all files that differ, then their patches.
    /// Each of the two has at most `bytes_max` bytes and a few lines that count what has no room.
    ///
    /// Bytes that are not text are written as escapes. No attribute in either tree can hide a file
    /// or run a program.
    pub fn diff(
        &self,
        from: &dyn TreeLike,
        to: &dyn TreeLike,
        bytes_max: usize,
    ) -> Result<String, GitError> {
        let changes = self.tree_changes(from, to)?;
        let mut facts = self.facts(&changes)?;
        self.compare((from, to), &changes, &mut facts)?;
        Ok(listing(&facts, bytes_max) + &patches(&facts, bytes_max))
    }
}
