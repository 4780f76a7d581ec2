//! What a measurement knows of reuse.

use std::collections::BTreeMap;

use crate::run::roots::Root;

/// What may be reused by this measurement.
pub(super) enum Warmth {
    /// Nobody has looked yet.
    Unknown,
    /// Nothing, and why.
    Cold(String),
    /// Nothing yet: a root can be made once it is known that it is worth it.
    Wanted,
    /// A root.
    Ready(Box<Ready>),
}

pub(super) struct Ready {
    pub(super) root: Root,
    pub(super) tools: String,
    /// Trees that were looked at, and whether the root fits them.
    pub(super) fits: BTreeMap<String, Fit>,
}

/// How a root fits a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// Not at all.
    Not,
    /// It does, with the outputs of these own packages.
    With(Vec<String>),
}

impl Ready {
    pub(super) fn name(&self) -> String {
        self.root.name()
    }
}
