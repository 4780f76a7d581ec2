//! Whether a command changed files that the tree has.
//!
//! A change is told by a file's size, kind, permissions and time of change, which nobody can set
//! back, or by the layer that takes changes; then its bytes decide.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use workspace::{Listed, Mode};

use super::lane::Lane;
use crate::ports::TreeFiles;

/// Files that are watched, and names of changed ones that are kept.
const FILES_MAX: usize = 200_000;
const CHANGED_MAX: usize = 200;

/// Bytes of a file that are compared.
const FILE_BYTES_MAX: usize = 16 << 20;

/// The files of a fresh checkout.
pub(super) struct Tracked {
    root: PathBuf,
    seen: Seen,
}

/// How a change is noticed.
enum Seen {
    /// By what each file was.
    Marks(BTreeMap<PathBuf, Mark>),
    /// By what lies in the uppermost layer. Whoever only writes the same bytes again is in it too.
    Upper(PathBuf),
}

#[derive(PartialEq, Eq, Clone, Copy)]
struct Mark {
    size: u64,
    mode: u32,
    changed: (i64, i64),
}

impl Tracked {
    /// Everything that lies in a lane's tree now.
    pub(super) fn of(lane: &Lane) -> Self {
        let root = lane.tree();
        let seen = match lane.changes() {
            Some(upper) => Seen::Upper(upper),
            None => Seen::Marks(marks(&root)),
        };
        Self { root, seen }
    }

    /// What became of the files since. What the tree does not have, such as a copied file, nobody
    /// watches.
    pub(super) fn touched(&self, tree: &dyn TreeFiles) -> Touched {
        let mut touched = Touched::default();
        match &self.seen {
            Seen::Marks(files) => {
                for (path, before) in files {
                    let found = fs::symlink_metadata(self.root.join(path));
                    if !found.is_ok_and(|found| mark(&found) == *before) {
                        self.compare(path, tree, &mut touched);
                    }
                }
            }
            Seen::Upper(upper) => {
                let top = Path::new("");
                self.look_above(upper, top, false, tree, &mut touched);
            }
        }
        touched
    }

    /// Compares what the tree has in a folder with what is seen of it, as far as the uppermost layer
    /// has something there.
    fn look_above(
        &self,
        upper: &Path,
        folder: &Path,
        is_anew: bool,
        tree: &dyn TreeFiles,
        touched: &mut Touched,
    ) {
        // A folder that was removed and made again hides what is below, in all folders in it too.
        let is_anew = is_anew || is_opaque(&upper.join(folder));
        for (name, listed) in tree.list(folder) {
            let path = folder.join(name);
            let above = fs::symlink_metadata(upper.join(&path));
            match (listed, above) {
                (_, Err(_)) if !is_anew => {}
                (Listed::Folder, Ok(above)) if above.is_dir() => {
                    self.look_above(upper, &path, is_anew, tree, touched);
                }
                (Listed::Folder, _) => self.compare_all(&path, tree, touched),
                (Listed::Entry(_), _) => self.compare(&path, tree, touched),
            }
        }
    }

    /// Compares everything that the tree has below a folder.
    fn compare_all(&self, folder: &Path, tree: &dyn TreeFiles, touched: &mut Touched) {
        for (name, listed) in tree.list(folder) {
            let path = folder.join(name);
            match listed {
                Listed::Folder => self.compare_all(&path, tree, touched),
                Listed::Entry(_) => self.compare(&path, tree, touched),
            }
        }
    }

    fn compare(&self, path: &Path, tree: &dyn TreeFiles, touched: &mut Touched) {
        let Some(entry) = tree.entry(path) else {
            return;
        };
        let whole = self.root.join(path);
        let is_same = fs::symlink_metadata(&whole).is_ok_and(|found| {
            let is_executable = !found.is_symlink() && found.mode() & 0o100 != 0;
            let has_mode = is_executable == (entry.mode == Mode::Executable);
            has_mode && has_same_content(&whole, path, &found, tree)
        });
        let list = if is_same {
            &mut touched.rewritten
        } else {
            &mut touched.changed
        };
        if list.len() < CHANGED_MAX {
            list.push(path.to_string_lossy().into_owned());
        }
    }
}

/// Everything that lies in a folder now.
fn marks(root: &Path) -> BTreeMap<PathBuf, Mark> {
    let mut files = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(path),
                Ok(found) if files.len() < FILES_MAX => {
                    files.insert(path, mark(&found));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    files
}

/// Whether a folder of the uppermost layer hides everything below it.
fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 8];
    let length = rustix::fs::lgetxattr(folder, c"user.overlay.opaque", &mut value);
    length.is_ok_and(|length| &value[..length] == b"y")
}

/// Files that a command wrote to.
#[derive(Default)]
pub(super) struct Touched {
    /// Those that are not what they were.
    pub(super) changed: Vec<String>,
    /// Those that are, though somebody wrote to them.
    pub(super) rewritten: Vec<String>,
}

fn has_same_content(whole: &Path, path: &Path, found: &fs::Metadata, tree: &dyn TreeFiles) -> bool {
    if found.is_symlink() {
        let target = fs::read_link(whole).ok();
        let target = target.map(|to| to.into_os_string().into_encoded_bytes());
        return target.is_some() && target == tree.link(path);
    }
    let was = tree.read(path, FILE_BYTES_MAX);
    was.is_some() && fs::read(whole).ok() == was
}

fn mark(found: &fs::Metadata) -> Mark {
    Mark {
        size: found.size(),
        mode: found.mode(),
        changed: (found.ctime(), found.ctime_nsec()),
    }
}
