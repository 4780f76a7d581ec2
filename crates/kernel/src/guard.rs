//! What is known of landings that were not shown to the operator.

use std::collections::BTreeMap;

use crate::commit::Commit;

/// What keeps the operator from being shown what is not confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Guard {
    /// The commits that were taken back from the branch, each with the one that it went back to.
    pub(crate) retracted: BTreeMap<Commit, Commit>,
    /// Why no build may be reused any more.
    pub(crate) warm_off: Option<String>,
    /// Whether somebody asked for what is not confirmed, so that no budget keeps it from being
    /// confirmed.
    pub(crate) confirms_anyway: bool,
    /// Whether a second look at a story once showed the operator an older commit again. Earlier versions
    /// then published the newer one a second time.
    pub(crate) showed_older: bool,
}
