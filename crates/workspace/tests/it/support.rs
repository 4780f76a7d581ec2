//! Scratch repositories, made with the real `git`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use testkit::{git, try_git};
use workspace::{CommitId, Edit, LoopRepo, Mode, Snapshot, TreeId, look_at_project};

pub(crate) const AT_SECS: i64 = 1_700_000_000;

/// A scratch folder with an operator's repository in `project`; ours go beside it.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// An operator's repository without a commit.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let world = Self { folder };
        fs::create_dir(world.project()).expect("made");
        testkit::init(&world.project(), &[]);
        world
    }

    /// An operator's repository with these files in one commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::empty();
        world.add(files);
        world
    }

    /// Commits these files on top and returns the new commit.
    pub(crate) fn add(&self, files: &[(&str, &str)]) -> CommitId {
        for (path, content) in files {
            write(&self.project().join(path), content);
        }
        git(&self.project(), &["add", "-A", "-f"]);
        git(&self.project(), &["commit", "-q", "-m", "more"]);
        self.head()
    }

    /// Commits a submodule at `sub`. It has no URL, since nothing ever fetches it.
    pub(crate) fn add_submodule(&self) {
        let gitlink = format!("160000,{},sub", self.head());
        git(
            &self.project(),
            &["update-index", "--add", "--cacheinfo", &gitlink],
        );
        git(&self.project(), &["commit", "-q", "-m", "a submodule"]);
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .expect("a folder")
            .join(path)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.at("project")
    }

    pub(crate) fn head(&self) -> CommitId {
        look_at_project(&self.project(), None)
            .expect("a project")
            .head
    }

    pub(crate) fn repo(&self) -> LoopRepo {
        LoopRepo::create(&self.project(), &self.at("state/loop.git"), &self.head())
            .expect("created")
    }

    /// A loop's repository, the base commit, and a checkout of it as an agent gets it.
    pub(crate) fn checkout(&self) -> (LoopRepo, CommitId, PathBuf) {
        let (repo, base, dir) = (self.repo(), self.head(), self.at("state/checkout"));
        repo.checkout(&base, &dir).expect("checked out");
        repo.make_agent_repo(&base, None, &dir).expect("made");
        (repo, base, dir)
    }
}

/// The tree as lines of `mode path`; git quotes names that are not UTF-8.
pub(crate) fn listed(repo: &LoopRepo, tree: &TreeId) -> Vec<String> {
    let text = git(
        repo.path(),
        &[
            "ls-tree",
            "-r",
            "--format=%(objectmode) %(path)",
            tree.as_str(),
        ],
    );
    text.lines().map(str::to_owned).collect()
}

/// The content of one file of a tree.
pub(crate) fn content(repo: &LoopRepo, tree: &TreeId, path: &str) -> String {
    try_git(repo.path(), &["cat-file", "-p", &format!("{tree}:{path}")]).1
}

pub(crate) fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, content).expect("written");
}

pub(crate) fn snapshot(repo: &LoopRepo, dir: &Path, base: &CommitId) -> Snapshot {
    repo.snapshot(dir, base, &[]).expect("a snapshot")
}

/// Commits a snapshot on the base.
pub(crate) fn candidate(repo: &LoopRepo, dir: &Path, base: &CommitId) -> CommitId {
    let tree = snapshot(repo, dir, base).tree;
    repo.commit(&tree, base, "feat: a story\n", AT_SECS)
        .expect("a commit")
}

/// All files below a folder: path, mode and content (of a link, its target).
pub(crate) fn files(folder: &Path) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(top: &Path, folder: &Path, found: &mut BTreeMap<Vec<u8>, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        if metadata.is_dir() {
            collect(top, &path, found);
            continue;
        }
        let bytes = if metadata.is_symlink() {
            fs::read_link(&path)
                .expect("a link")
                .as_os_str()
                .as_bytes()
                .to_vec()
        } else {
            fs::read(&path).expect("read")
        };
        let name = path
            .strip_prefix(top)
            .expect("below")
            .as_os_str()
            .as_bytes()
            .to_vec();
        found.insert(name, (metadata.mode(), bytes));
    }
}

pub(crate) fn raw(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// A file of a composed tree.
pub(crate) fn put(path: impl AsRef<OsStr>, text: impl AsRef<[u8]>) -> Edit {
    put_as(Mode::File, path, text)
}

pub(crate) fn put_as(mode: Mode, path: impl AsRef<OsStr>, text: impl AsRef<[u8]>) -> Edit {
    Edit::Write {
        path: PathBuf::from(path.as_ref()),
        mode,
        bytes: text.as_ref().to_vec(),
    }
}

pub(crate) fn remove(path: impl AsRef<OsStr>) -> Edit {
    Edit::Remove {
        path: PathBuf::from(path.as_ref()),
    }
}

pub(crate) fn compose(repo: &LoopRepo, base: &TreeId, edits: &[Edit]) -> TreeId {
    repo.compose(base, edits).expect("a tree")
}

/// File names that git, a shell or an encoding might treat specially.
pub(crate) const HOSTILE: &[&[u8]] = &[
    b"-rf",
    b":(top)x",
    b"*.rs",
    b"a\nb",
    b"a\tb \"q\"",
    b"caf\xe9",
    b"\\x",
    b"d\xff/-e/\n",
    b" ",
];
