//! Recognises the files of a checkout that nobody has touched, so that a snapshot reads only the others.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, statat};

use crate::entry::Entries;
use crate::gather::Gathered;
use crate::stamps::{Stamp, Stamps};
use crate::walk::{Tree, split};

/// What is known of a checkout that somebody works in: the files that we wrote, and what each of them is.
pub(crate) struct Untouched {
    stamps: Stamps,
    written: Arc<Entries>,
}

impl Untouched {
    pub(crate) fn new(stamps: Stamps, written: Arc<Entries>) -> Self {
        Self { stamps, written }
    }

    /// Takes the files that nobody has touched for what we wrote, so that they need not be read.
    pub(crate) fn recognise(&self, tree: &Tree, gathered: &mut Gathered) {
        let mut open: Option<(Vec<u8>, OwnedFd)> = None;
        let mut files = std::mem::take(&mut gathered.files);
        files.retain(|found| {
            let (folder, name) = split(&found.path);
            if open.as_ref().is_none_or(|(path, _)| path != folder) {
                let opened = tree.folder(folder).ok();
                open = opened.map(|opened| (folder.to_vec(), opened));
            }
            let Some((_, folder)) = &open else {
                return true;
            };
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let known = stat.filter(|stat| {
                let before = self.stamps.get(&found.path);
                before.is_some_and(|before| *before == Stamp::of(stat))
            });
            match known.and_then(|_| self.written.get(&found.path)) {
                Some(entry) => {
                    gathered.entries.insert(found.path.clone(), entry.clone());
                    false
                }
                None => true,
            }
        });
        gathered.files = files;
    }
}
