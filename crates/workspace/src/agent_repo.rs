//! The throw-away git repository that an agent works in and may change as it likes.
//!
//! It shares no objects with ours, because the agent must not be able to read the loop's other
//! work. We never read anything from it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::error::{GitError, failed};
use crate::git::Git;
use crate::id::CommitId;
use crate::loop_repo::{LoopRepo, init_bare};
use crate::scratch::{Scratch, absolute};

/// Appended to the configuration that `git init` wrote; the last value of a setting wins. Automatic
/// maintenance is off because nothing may keep running after the agent has ended.
pub(crate) const SETTINGS: &str = "[core]
\tbare = false
\tlogAllRefUpdates = true
[user]
\tname = Loopwright agent
\temail = agent@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

impl LoopRepo {
    /// Makes a git repository in `dir`, which must be a fresh checkout of `commit`.
    ///
    /// It has one commit on `main` with the checkout's files, an identity, no remotes and no hooks.
    /// Where there is former work on the same story, the branch `former` has it as a commit of its own,
    /// on top of the files that it was made from. A repository that is already there is left as it is.
    pub fn make_agent_repo(
        &self,
        commit: &CommitId,
        former: Option<&CommitId>,
        dir: &Path,
    ) -> Result<(), GitError> {
        build(dir, || {
            let root = self.as_one_commit(commit)?;
            let former = match former {
                Some(former) => Some(self.as_two_commits(former)?),
                None => None,
            };
            let mut branches = vec![("main".to_owned(), root)];
            branches.extend(former.map(|former| ("former".to_owned(), former)));
            Ok(Content {
                branches,
                cut_at: Vec::new(),
                from: self,
            })
        })
    }

    /// The same for an agent that may know the history: up to `n_commits` of it, on a branch of this
    /// name. There are no other branches, no remotes and no hooks.
    pub fn make_task_repo(
        &self,
        commit: &CommitId,
        branch: &str,
        n_commits: u32,
        dir: &Path,
    ) -> Result<(), GitError> {
        build(dir, || {
            let tip = match self.unfold(commit)? {
                // As the checkout has it: the agent's git knows neither filters nor submodules.
                Some(unfolded) => {
                    let scratch = Scratch::inside(self.path())?;
                    let tree = self.write_tree(&unfolded.entries, &scratch)?;
                    self.commit(&tree, commit, "The project as it is\n", 0)?
                }
                None => commit.clone(),
            };
            Ok(Content {
                branches: vec![(branch.to_owned(), tip)],
                cut_at: self.boundary(commit, n_commits)?,
                from: self,
            })
        })
    }

    /// The commits behind which the last `n_commits` end.
    fn boundary(&self, commit: &CommitId, n_commits: u32) -> Result<Vec<String>, GitError> {
        let count = format!("--max-count={}", n_commits.max(1));
        let listed = self
            .git()
            .args(["rev-list", "--parents", &count, commit.as_str()])
            .run()?;
        let text = String::from_utf8_lossy(&listed).into_owned();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
        let kept: BTreeSet<&str> = lines
            .iter()
            .filter_map(|line| line.first().copied())
            .collect();
        let is_cut = |line: &&Vec<&str>| line.iter().any(|id| !kept.contains(id));
        let cut = lines.iter().filter(is_cut);
        let mut cut: BTreeSet<String> = cut.map(|line| line[0].to_owned()).collect();
        // Where our own history ends, its ends too.
        let own = fs::read_to_string(self.path().join("shallow")).unwrap_or_default();
        cut.extend(
            own.lines()
                .filter(|id| kept.contains(id))
                .map(str::to_owned),
        );
        Ok(cut.into_iter().collect())
    }

    /// Makes a root commit with the files of `commit`. The history is left out because an agent
    /// could find the answer to its story there.
    fn as_one_commit(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        // At time zero, so that the same files always give the same commit.
        let tree = match self.unfold(commit)? {
            // As the checkout has it: the agent's git knows neither filters nor submodules.
            Some(unfolded) => {
                let scratch = Scratch::inside(self.path())?;
                self.write_tree(&unfolded.entries, &scratch)?.to_string()
            }
            None => format!("{commit}^{{tree}}"),
        };
        self.commit_root(&tree, "The project as it is\n", 0)
    }

    /// The same with the commit that it stands on, so that what it changed can be seen and applied.
    pub(crate) fn as_two_commits(&self, commit: &CommitId) -> Result<CommitId, GitError> {
        let base = self.as_one_commit(&self.parent_of(commit)?)?;
        let root = self.as_one_commit(commit)?;
        self.commit(&self.tree_of(&root)?, &base, "What you made before\n", 0)
    }
}

/// What an agent's repository has.
struct Content<'r> {
    /// Branches with their commits; the first one is checked out.
    branches: Vec<(String, CommitId)>,
    /// Commits whose parents are left out.
    cut_at: Vec<String>,
    from: &'r LoopRepo,
}

impl Content<'_> {
    /// Writes one pack with exactly the objects of these commits into the new repository and points its
    /// branches at them. A fetch would do the same, but takes five processes.
    fn pack_into(&self, git_dir: &Path) -> Result<(), GitError> {
        // A window of zero makes no deltas: the repository is thrown away, so its size does not
        // matter.
        let packs = git_dir.join("objects/pack");
        let git = self
            .from
            .git()
            .without_fsync()
            .args(["pack-objects", "-q", "--revs", "--window=0"])
            .arg(packs.join("pack"));
        let cuts = self.cut_at.iter().map(|id| format!("--shallow {id}\n"));
        let tips = self.branches.iter().map(|(_, tip)| format!("{tip}\n"));
        let wanted: String = cuts.chain(tips).collect();
        git.run_with(wanted.as_bytes())?;
        if !self.cut_at.is_empty() {
            let text = self.cut_at.join("\n") + "\n";
            put(&git_dir.join("shallow"), &text)?;
        }
        for (name, tip) in &self.branches {
            put(&git_dir.join("refs/heads").join(name), &format!("{tip}\n"))?;
        }
        let first = self.branches.first().map_or("main", |(name, _)| name);
        put(&git_dir.join("HEAD"), &format!("ref: refs/heads/{first}\n"))
    }
}

/// Makes a repository in a fresh checkout, unless it has one.
fn build<'r>(
    dir: &Path,
    content: impl FnOnce() -> Result<Content<'r>, GitError>,
) -> Result<(), GitError> {
    let dir = absolute(dir)?;
    let place = dir.join(".git");
    if fs::symlink_metadata(&place).is_ok() {
        return Ok(());
    }
    let content = content()?;
    // Built outside the checkout: what a crash left inside it would look like the agent's work.
    let scratch = Scratch::beside(&dir, "agent-git")?;
    let git_dir = scratch.path();
    let format = content
        .branches
        .first()
        .map_or("sha1", |(_, tip)| format_of(tip));
    init_bare(git_dir, format)?;
    content.pack_into(git_dir)?;
    let config = git_dir.join("config");
    fs::OpenOptions::new()
        .append(true)
        .open(&config)
        .and_then(|mut file| file.write_all(SETTINGS.as_bytes()))
        .map_err(failed("write", &config))?;
    fill_index(git_dir, &dir)?;
    // The rename comes last: a `.git` that exists is complete, which the check above relies on.
    fs::rename(git_dir, &place).map_err(failed("put in place", &place))
}

/// Writes a file of a repository that nobody uses yet.
fn put(file: &Path, text: &str) -> Result<(), GitError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
    }
    fs::write(file, text).map_err(failed("write", file))
}

/// The object format, known from the id's length.
pub(crate) fn format_of(commit: &CommitId) -> &'static str {
    if commit.as_str().len() == 64 {
        "sha256"
    } else {
        "sha1"
    }
}

/// Fills the index, without which `git status` would show every file as deleted. Git may read the
/// files here, because nobody but us has written to the checkout yet.
fn fill_index(git_dir: &Path, dir: &Path) -> Result<(), GitError> {
    let git = || Git::of_ours(git_dir).without_fsync().work_tree(dir);
    git().args(["read-tree", "HEAD"]).run()?;
    git()
        .args(["update-index", "-q", "--refresh"])
        .run()
        .map(drop)
}
