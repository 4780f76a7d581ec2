//! The loop's repository as git keeps it. Every fault gets its kind here, where the folder is known
//! that git worked in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use home::Home;
use workspace::{
    Change, CommitId, Edit, Entry, GitError, Listed, LoopRepo, Memory, Moved, Overlay, Published,
    Rack, Restacked, Signature, Snapshot, TreeId, TreeReader, TreeStore,
};

use crate::fault::Fault;
use crate::ports::{Repositories, Repository, TreeFiles};

/// Repositories below the state folder.
pub struct GitRepositories {
    home: Home,
    /// What git said of objects, shared by all deeds.
    memory: Memory,
}

struct GitRepository {
    git: LoopRepo,
}

struct GitTreeFiles(TreeReader);

impl GitRepositories {
    /// The repositories of a state folder.
    pub fn new(home: Home) -> Self {
        Self {
            home,
            memory: Memory::default(),
        }
    }
}

/// Opens a loop's repository by its folder, as a check's own process does.
pub(crate) fn open_at(folder: &Path) -> Result<Box<dyn Repository>, Fault> {
    let git = LoopRepo::open(folder).map_err(|error| Fault::git(folder, error))?;
    Ok(Box::new(GitRepository { git }))
}

impl Repositories for GitRepositories {
    fn create(&self, loop_id: &str, project_root: &Path, base: &CommitId) -> Result<(), Fault> {
        let folder = self.home.repository(loop_id);
        let made = LoopRepo::create(project_root, &folder, base);
        made.map(drop)
            .map_err(|error| Fault::git(self.home.root(), error))
    }

    fn open(&self, loop_id: &str) -> Result<Box<dyn Repository>, Fault> {
        let folder = self.home.repository(loop_id);
        match LoopRepo::open(&folder) {
            Ok(git) => Ok(Box::new(GitRepository {
                git: git.remembering(&self.memory),
            })),
            Err(error @ GitError::NotALoopRepo { .. }) => Err(Fault::NeedsPerson {
                what: error.to_string(),
                remedy: "put it back from a copy, or cancel the loop".to_owned(),
            }),
            Err(error) => Err(Fault::git(self.home.root(), error)),
        }
    }
}

impl GitRepository {
    /// A command that fails in a repository that is damaged fails for ever, so that is looked at.
    fn done<T>(&self, done: Result<T, GitError>) -> Result<T, Fault> {
        done.map_err(|error| match &error {
            GitError::Failed { code: Some(_), .. } | GitError::Garbled { .. } => self
                .damage()
                .unwrap_or_else(|| Fault::git(self.git.path(), error)),
            _ => Fault::git(self.git.path(), error),
        })
    }
}

impl Repository for GitRepository {
    fn path(&self) -> &Path {
        self.git.path()
    }

    fn damage(&self) -> Option<Fault> {
        let path = self.git.path().display();
        let what = self.git.damage()?;
        Some(Fault::NeedsPerson {
            what: format!("the loop's repository {path} is damaged: {what}"),
            remedy: format!(
                "`git -C {path} fsck` names what is wrong; put that back from a copy, or bring back \
                 what your project has with `git -C {path} fetch --refetch PROJECT COMMIT`"
            ),
        })
    }

    fn checkout(&self, commit: &CommitId, folder: &Path) -> Result<(), Fault> {
        self.done(self.git.checkout(commit, folder))
    }

    fn checkout_tree(&self, tree: &TreeId, folder: &Path) -> Result<(), Fault> {
        self.done(self.git.checkout_tree(tree, folder))
    }

    fn checkout_with(
        &self,
        tree: &TreeId,
        rack: &Path,
        name: &str,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, Fault> {
        let rack = self.done(Rack::at(rack))?;
        self.done(self.git.checkout_with(tree, &rack, name, folder))
    }

    fn put_away(&self, rack: &Path, name: &str, folder: &Path) -> Vec<PathBuf> {
        match Rack::at(rack) {
            Ok(rack) => rack.put_away(&self.git, name, folder),
            Err(_) => vec![folder.to_owned()],
        }
    }

    fn make_agent_repo(
        &self,
        commit: &CommitId,
        former: Option<&CommitId>,
        folder: &Path,
    ) -> Result<(), Fault> {
        self.done(self.git.make_agent_repo(commit, former, folder))
    }

    fn first_commit(&self) -> Result<Option<CommitId>, Fault> {
        self.done(self.git.first_commit())
    }

    fn write_out(&self, tree: &TreeId, store: &Path) -> Result<Option<Vec<PathBuf>>, Fault> {
        let written = TreeStore::at(store).and_then(|store| self.git.write_out(tree, &store));
        Ok(self.done(written)?.map(|written| written.layers))
    }

    fn write_out_for_agent(
        &self,
        commit: &CommitId,
        store: &Path,
    ) -> Result<Option<Vec<PathBuf>>, Fault> {
        let store = self.done(TreeStore::at(store))?;
        self.done(self.git.write_out_for_agent(commit, &store))
    }

    fn show_former(&self, commit: &CommitId, former: &CommitId, upper: &Path) -> Result<(), Fault> {
        self.done(self.git.show_former(commit, former, upper))
    }

    fn snapshot_of_changes(
        &self,
        upper: &Path,
        below: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        self.done(self.git.snapshot_of_changes(upper, below, kept))
    }

    fn snapshot(
        &self,
        folder: &Path,
        base: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        self.done(self.git.snapshot(folder, base, kept))
    }

    fn snapshot_with(
        &self,
        rack: &Path,
        name: &str,
        folder: &Path,
        base: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        let rack = self.done(Rack::at(rack))?;
        self.done(self.git.snapshot_with(&rack, name, folder, base, kept))
    }

    fn commit_by(
        &self,
        author: &Signature,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, Fault> {
        self.done(self.git.commit_by(author, tree, parent, message, at_secs))
    }

    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, Fault> {
        self.done(self.git.tree_of(commit))
    }

    fn parent_of(&self, commit: &CommitId) -> Result<CommitId, Fault> {
        self.done(self.git.parent_of(commit))
    }

    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, Fault> {
        self.done(self.git.merge_base(one, other))
    }

    fn restack(
        &self,
        base: &CommitId,
        work: &CommitId,
        onto: &CommitId,
    ) -> Result<Restacked, Fault> {
        self.done(self.git.restack(base, work, onto))
    }

    fn message_of(&self, commit: &CommitId) -> Result<String, Fault> {
        self.done(self.git.message_of(commit))
    }

    fn diff(&self, from: &CommitId, to: &CommitId, bytes_max: usize) -> Result<String, Fault> {
        self.done(self.git.diff(from, to, bytes_max))
    }

    fn tree_changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, Fault> {
        self.done(self.git.tree_changes(from, to))
    }

    fn renames(&self, from: &TreeId, to: &TreeId) -> Result<Vec<(PathBuf, PathBuf)>, Fault> {
        self.done(self.git.renames(from, to))
    }

    fn compose(&self, base: &TreeId, edits: &[Edit]) -> Result<TreeId, Fault> {
        self.done(self.git.compose(base, edits))
    }

    fn overlay(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        is_test: &dyn Fn(&Path) -> bool,
    ) -> Result<Overlay, Fault> {
        self.done(self.git.overlay(base, code, tests, is_test))
    }

    fn reader(&self, tree: &TreeId) -> Result<Box<dyn TreeFiles>, Fault> {
        let reader = self.done(self.git.reader(tree))?;
        Ok(Box::new(GitTreeFiles(reader)))
    }

    fn read_ref(&self, name: &str) -> Result<Option<CommitId>, Fault> {
        self.done(self.git.read_ref(name))
    }

    fn move_ref(&self, name: &str, from: Option<&CommitId>, to: &CommitId) -> Result<Moved, Fault> {
        self.done(self.git.move_ref(name, from, to))
    }

    fn publish(
        &self,
        project_root: &Path,
        branch: &str,
        published: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<Published, Fault> {
        let done = self.git.publish(project_root, branch, published, to);
        done.map_err(|error| match error {
            // It may be the repository of either side. Ours is looked at; else it is theirs.
            GitError::Failed { code: Some(_), .. } | GitError::Garbled { .. } => {
                self.damage().unwrap_or_else(|| {
                    Fault::transient(format!("publish into `{}`", project_root.display()), error)
                })
            }
            error => Fault::git(self.git.path(), error),
        })
    }
}

/// What cannot be read is as good as not there: whoever asks for text in a tree wants a hint and not
/// a proof.
impl TreeFiles for GitTreeFiles {
    fn read(&self, path: &Path, bytes_max: usize) -> Option<Vec<u8>> {
        self.0.read(path, bytes_max).ok().flatten()
    }

    fn link(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.link(path).ok().flatten()
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        self.0.entry(path).ok().flatten().cloned()
    }

    fn list(&self, folder: &Path) -> Vec<(OsString, Listed)> {
        self.0.list(folder).unwrap_or_default()
    }
}
