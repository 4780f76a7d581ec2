//! The agent's throw-away repository as layers: made once for each tree, and shared by all runs that
//! begin with it. What an agent does to it goes into its own upper layer.
//!
//! As with files, the repository of the first tree is whole, and that of any other has only the objects
//! that are new, its branch and its index. So an agent can find the objects of the tree that the loop
//! began with, which no branch names. It never finds those of other work.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::agent_repo::{SETTINGS, format_of};
use crate::entry::index_lines;
use crate::error::{GitError, failed};
use crate::git::pipe_broke;
use crate::id::{CommitId, TreeId};
use crate::loop_repo::{LoopRepo, init_bare};
use crate::scratch::Scratch;
use crate::written::{TreeStore, WHOLE, WrittenTree, finish, is_whole, mark_used, remove, sides};

/// With layers a file's owner and number are others inside than outside. Size and time are the same.
const LAYERED: &str = "[core]\n\tcheckStat = minimal\n";

impl LoopRepo {
    /// Writes the files of a commit out with an agent's repository, and returns the layers, the
    /// uppermost first. `None` as for [`LoopRepo::write_out`].
    pub fn write_out_for_agent(
        &self,
        commit: &CommitId,
        store: &TreeStore,
    ) -> Result<Option<Vec<PathBuf>>, GitError> {
        let _lock = store.lock()?;
        let tree = self.tree_of(commit)?;
        let Some(written) = self.written(&tree, store)? else {
            return Ok(None);
        };
        let mut layers = vec![self.written_git(&tree, &written, store)?];
        layers.push(written.place.join("files"));
        if let Some(over) = &written.over {
            let below = store.below(over);
            layers.push(self.written_git(over, &below, store)?);
            layers.extend(below.layers);
        }
        Ok(Some(layers))
    }

    /// Adds former work on the same story to the upper layer of an agent's repository, on the branch
    /// `former`, with the commit that it stands on.
    pub fn show_former(
        &self,
        commit: &CommitId,
        former: &CommitId,
        upper: &Path,
    ) -> Result<(), GitError> {
        let root = self.as_root(&self.tree_of(commit)?)?;
        let base = self.as_root(&self.tree_of(&self.parent_of(former)?)?)?;
        let tree = self.tree_of(former)?;
        let former = self.commit(&tree, &base, "What you made before\n", 0)?;
        let git_dir = upper.join(".git");
        self.add_branch(&git_dir, "former", &former, Some(&root))
    }

    fn written_git(
        &self,
        tree: &TreeId,
        written: &WrittenTree,
        store: &TreeStore,
    ) -> Result<PathBuf, GitError> {
        let place = store.place(&format!("{tree}.git"));
        if is_whole(&place, "layer", &self.memory)? {
            mark_used(&place);
            return Ok(place.join("layer"));
        }
        remove(&place)?;
        let scratch = Scratch::beside(&place, "new")?;
        let git_dir = scratch.path().join("layer/.git");
        fs::create_dir_all(&git_dir).map_err(failed("make", &git_dir))?;
        let root = self.as_root(tree)?;
        match &written.over {
            Some(over) => {
                let below = self.as_root(over)?;
                self.add_branch(&git_dir, "main", &root, Some(&below))?;
                self.write_index(tree, over, &git_dir, store)?;
            }
            None => {
                self.write_repository(&root, &git_dir)?;
                copy(&written.place.join("index"), &git_dir.join("index"))?;
            }
        }
        finish(&scratch, "layer", WHOLE, &place)?;
        Ok(place.join("layer"))
    }

    fn write_repository(&self, root: &CommitId, git_dir: &Path) -> Result<(), GitError> {
        init_bare(git_dir, format_of(root))?;
        self.add_branch(git_dir, "main", root, None)?;
        let config = git_dir.join("config");
        fs::OpenOptions::new()
            .append(true)
            .open(&config)
            .and_then(|mut file| file.write_all([SETTINGS, LAYERED].concat().as_bytes()))
            .map_err(failed("write", &config))
    }

    /// The index of the tree below with what differs. Git looks at those few files itself.
    fn write_index(
        &self,
        tree: &TreeId,
        over: &TreeId,
        git_dir: &Path,
        store: &TreeStore,
    ) -> Result<(), GitError> {
        let index = git_dir.join("index");
        copy(&store.place(over.as_str()).join("index"), &index)?;
        let (before, after) = sides(&self.tree_changes(over, tree)?)?;
        self.git()
            .without_fsync()
            .env("GIT_INDEX_FILE", &index)
            .args(["update-index", "-z", "--index-info"])
            .run_fed(|pipe| {
                index_lines(&before, &after)
                    .try_for_each(|line| pipe.write_all(&line).map_err(pipe_broke))
            })
            .map(drop)
    }

    /// Adds the objects of a commit that those of `known` lack, and a branch that names it.
    fn add_branch(
        &self,
        git_dir: &Path,
        name: &str,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let (packs, heads) = (git_dir.join("objects/pack"), git_dir.join("refs/heads"));
        for folder in [&packs, &heads] {
            fs::create_dir_all(folder).map_err(failed("make", folder))?;
        }
        let mut wanted = format!("{tip}\n");
        if let Some(known) = known {
            wanted.push_str(&format!("^{known}\n"));
        }
        // A window of zero makes no deltas: the repository is thrown away, so its size does not
        // matter.
        self.git()
            .without_fsync()
            .args(["pack-objects", "-q", "--revs", "--window=0"])
            .arg(packs.join("pack"))
            .run_with(wanted.as_bytes())?;
        let branch = heads.join(name);
        fs::write(&branch, format!("{tip}\n")).map_err(failed("write", &branch))
    }

    /// A commit without a parent that has the files of a tree. At time zero, so that the same files
    /// always give the same commit.
    fn as_root(&self, tree: &TreeId) -> Result<CommitId, GitError> {
        self.commit_root(tree.as_str(), "The project as it is\n", 0)
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), GitError> {
    fs::copy(from, to).map(drop).map_err(failed("copy", from))
}
