//! Every key that this process has read, and every token that it replaced. Its log must not show any of
//! them, whichever loop they are of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

use super::secret::Secret;

static SEEN: RwLock<BTreeSet<(String, Secret)>> = RwLock::new(BTreeSet::new());

/// Notes the keys of a loop.
pub(crate) fn note_seen(keys: &BTreeMap<String, Secret>) {
    let new: Vec<(String, Secret)> = {
        let seen = SEEN.read().unwrap_or_else(PoisonError::into_inner);
        let pairs = keys.iter().map(|(name, key)| (name.clone(), key.clone()));
        pairs.filter(|pair| !seen.contains(pair)).collect()
    };
    if !new.is_empty() {
        let mut seen = SEEN.write().unwrap_or_else(PoisonError::into_inner);
        seen.extend(new);
    }
}

/// All of them, with the names of their variables.
pub(super) fn seen() -> BTreeSet<(String, Secret)> {
    SEEN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

static SPENT: RwLock<BTreeSet<(String, Secret)>> = RwLock::new(BTreeSet::new());

/// Notes tokens of a login that are about to be replaced: runs that began with them may still print
/// them, and no file has them any more.
pub(super) fn note_spent(name: &str, tokens: Vec<Secret>) {
    let mut spent = SPENT.write().unwrap_or_else(PoisonError::into_inner);
    spent.extend(tokens.into_iter().map(|token| (name.to_owned(), token)));
}

/// All of those, with the names of their files.
pub(super) fn spent() -> BTreeSet<(String, Secret)> {
    SPENT.read().unwrap_or_else(PoisonError::into_inner).clone()
}
