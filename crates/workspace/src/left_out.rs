//! Paths of a checkout that are not in its tree, and why; and what of a file is not in its entry.

use std::path::PathBuf;

use crate::walk::as_path;

/// A path that is in the checkout and not in the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The path, relative to the checkout.
    pub path: PathBuf,
    /// Why it was left out.
    pub reason: Reason,
}

/// Why a path was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A pipe, a socket or a device.
    Special,
    /// A file that is larger than we store.
    TooLarge,
    /// A name that git would take for its own metadata on some system.
    ReservedName,
    /// Files in the folder of a submodule, which stays at its recorded commit.
    InSubmodule,
    /// We may not read it, or its path is too long for the system.
    Unreadable,
    /// It lies in too many folders inside each other.
    TooDeep,
    /// Beside it is a name that differs from it only in upper and lower case. Many file systems can
    /// hold only one of the two, so whoever checks both out there loses one.
    CaseClash,
    /// It is a file where a path that is kept from the base needs a folder.
    InTheWay,
    /// No rule of the checkout ignores it, but a tool filled it, and the base tracks nothing in it.
    /// Its name says so (`node_modules`, `.venv`, `__pycache__`), or it is cargo's `target`.
    BuildFolder,
    /// It is a new or changed link whose target will not be there; see [`crate::Snapshot::bad_links`].
    BadLink,
}

/// Something about a file that its entry in the tree does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// It had the setuid, setgid or sticky bit, which no tree records.
    SpecialBits,
    /// It has a further name that is not in the tree: a hard link. Its content may be that of a file
    /// elsewhere.
    HardLink,
}

impl LeftOut {
    pub(crate) fn new(path: &[u8], reason: Reason) -> Self {
        Self {
            path: as_path(path).to_owned(),
            reason,
        }
    }
}
