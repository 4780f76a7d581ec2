//! Finds links that must not land: those that lead out of the project, and those whose target will
//! not be there.
//!
//! Only the tree that lands counts. What else lies in the checkout, such as a build folder, is not
//! there for anybody else. A link that the base has already is left alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::blobs::{Blob, Blobs};
use crate::entry::{Entries, Entry, Mode, above, below};
use crate::error::GitError;
use crate::gather::{Gathered, join};
use crate::id::ObjectId;
use crate::left_out::{LeftOut, Reason};
use crate::loop_repo::LoopRepo;
use crate::walk::{as_path, split};

/// How many links are followed from one; Linux follows no more either.
const LINKS_MAX: usize = 40;
/// How many names are looked up for one link. An agent can write links that take far longer.
const STEPS_MAX: usize = 2000;
/// How often the links are looked at again after some were removed.
const ROUNDS_MAX: usize = 20;
/// No system accepts a longer target.
const TARGET_BYTES_MAX: usize = 4096;

/// A link that must not land.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BadLink {
    /// The link's path, relative to the checkout.
    pub path: PathBuf,
    /// Where it points, as it is written in the link.
    pub target: String,
    /// What is wrong with it.
    pub why: LinkTrouble,
}

/// What is wrong with a link, once all links on its way are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkTrouble {
    /// It leads out of the project, by an absolute path or by `..`.
    LeadsOut,
    /// Nothing will be where it points.
    Dangles,
    /// It leads back to itself, or through more links than a system follows.
    Endless,
}

impl LoopRepo {
    /// Removes the bad ones among all links that the base does not have, and returns them.
    pub(crate) fn remove_bad_links(
        &self,
        base: &Entries,
        gathered: &mut Gathered,
    ) -> Result<Vec<BadLink>, GitError> {
        let mut links = Links {
            blobs: Blobs::of(self),
            targets: BTreeMap::new(),
        };
        let mut all_bad = Vec::new();
        // A folder that held nothing but bad links is gone with them, and another link may point to
        // it. So each removal is followed by another look.
        for round in 0.. {
            let entries = &gathered.entries;
            let is_new = |(path, entry): &(&Vec<u8>, &Entry)| {
                entry.mode == Mode::Link && base.get(*path) != Some(*entry)
            };
            let mut bad = Vec::new();
            for (path, _) in entries.iter().filter(is_new) {
                let why = if round < ROUNDS_MAX {
                    links.trouble(entries, path)?
                } else {
                    Some(LinkTrouble::Endless)
                };
                bad.extend(why.map(|why| (path.clone(), why)));
            }
            if bad.is_empty() {
                break;
            }
            for (path, why) in bad {
                let target = links.target(&gathered.entries, &path)?;
                gathered.entries.remove(&path);
                gathered.left_out.push(LeftOut::new(&path, Reason::BadLink));
                all_bad.push(BadLink {
                    path: as_path(&path).to_owned(),
                    target: String::from_utf8_lossy(&target).into_owned(),
                    why,
                });
            }
        }
        Ok(all_bad)
    }
}

/// The targets of links, each read once.
struct Links {
    blobs: Blobs,
    targets: BTreeMap<ObjectId, Vec<u8>>,
}

impl Links {
    /// What is wrong with a link of a tree.
    fn trouble(&mut self, entries: &Entries, link: &[u8]) -> Result<Option<LinkTrouble>, GitError> {
        let mut way = Way {
            at: split(link).0.to_vec(),
            ahead: Vec::new(),
            n_steps: 0,
        };
        let mut link = link.to_vec();
        for _ in 0..LINKS_MAX {
            let target = self.target(entries, &link)?;
            if target.starts_with(b"/") {
                return Ok(Some(LinkTrouble::LeadsOut));
            }
            if target.is_empty() {
                return Ok(Some(LinkTrouble::Dangles));
            }
            let names = target.split(|byte| *byte == b'/').rev();
            way.ahead.extend(names.map(<[u8]>::to_vec));
            match way.follow(entries) {
                End::Link(next) => link = next,
                End::There => return Ok(None),
                End::Wrong(why) => return Ok(Some(why)),
            }
        }
        Ok(Some(LinkTrouble::Endless))
    }

    /// Where a link points. One that is too long for any system points to nothing.
    fn target(&mut self, entries: &Entries, link: &[u8]) -> Result<Vec<u8>, GitError> {
        let Some(Entry { id, .. }) = entries.get(link) else {
            unreachable!("only links of the tree are asked for")
        };
        if let Some(target) = self.targets.get(id) {
            return Ok(target.clone());
        }
        let target = match self.blobs.read(id, TARGET_BYTES_MAX)? {
            Blob::Whole(target) => target,
            Blob::TooLarge { .. } => Vec::new(),
        };
        self.targets.insert(id.clone(), target.clone());
        Ok(target)
    }
}

/// How far a link has been followed.
struct Way {
    /// The folder that we are in.
    at: Vec<u8>,
    /// The names that are still to follow, the next one last.
    ahead: Vec<Vec<u8>>,
    n_steps: usize,
}

/// Where the names of one target end.
enum End {
    /// At the link at this path.
    Link(Vec<u8>),
    /// At something that will be there.
    There,
    Wrong(LinkTrouble),
}

impl Way {
    /// Follows names up to the next link.
    fn follow(&mut self, entries: &Entries) -> End {
        while let Some(name) = self.ahead.pop() {
            self.n_steps += 1;
            if self.n_steps > STEPS_MAX {
                return End::Wrong(LinkTrouble::Endless);
            }
            if matches!(&name[..], b"" | b".") {
                continue;
            }
            if name == b".." {
                if self.at.is_empty() {
                    return End::Wrong(LinkTrouble::LeadsOut);
                }
                self.at = split(&self.at).0.to_vec();
                continue;
            }
            let path = join(&self.at, &name);
            match entries.get(&path).map(|entry| entry.mode) {
                Some(Mode::Link) => return End::Link(path),
                Some(Mode::File | Mode::Executable) if self.ahead.is_empty() => return End::There,
                Some(Mode::Submodule) => self.at = path,
                None if is_folder(entries, &path) => self.at = path,
                Some(Mode::File | Mode::Executable) | None => {
                    return End::Wrong(LinkTrouble::Dangles);
                }
            }
        }
        End::There
    }
}

/// Whether there is a folder. We never look into a submodule, so anything may be below one.
fn is_folder(entries: &Entries, path: &[u8]) -> bool {
    let is_submodule = |above| entries.get(above).is_some_and(Entry::is_gitlink);
    below(entries, path).next().is_some() || above(path).any(is_submodule)
}
