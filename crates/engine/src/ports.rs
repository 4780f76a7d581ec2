//! What carrying out orders needs of the world: runs, the loop's repository, a clock, a state
//! folder. The log is the worker's alone.
//!
//! The local ports are keepers, git and `SQLite`. Tests bring their own, in memory, and cut the power
//! at every call.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use home::Home;
use journal::{AppendError, Fence, JournalError, LoopHead, NewRecord, ReadError, Record};
use sandbox::{ExitRecord, Output, RunSpec, Stream};
use workspace::{
    Change, CommitId, Edit, Entry, Listed, Moved, Overlay, Published, Restacked, Signature,
    Snapshot, TreeId,
};

use crate::fault::Fault;

/// Tells the time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Everything that an order is carried out with.
pub struct Ports {
    /// Where files lie.
    pub home: Home,
    /// Ourselves, to be started as keepers and helpers.
    pub program: PathBuf,
    /// The time, as records are stamped with it.
    pub clock: Clock,
    /// Runs of agents and checks.
    pub runs: Box<dyn Runs>,
    /// The loops' own repositories.
    pub repositories: Box<dyn Repositories>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Nothing is there yet.
    Unprepared,
    /// Everything that a keeper needs is there; launching one is safe at any time.
    Prepared,
    /// It is under way.
    Running,
    /// It is over, and nothing of it is left.
    Ended(Box<ExitRecord>),
    /// Its keeper died without a record; what it left must be swept.
    Lost,
    /// Its keeper belongs to an earlier boot.
    Rebooted,
}

/// Runs, each known by its folder.
pub trait Runs: Send + Sync {
    /// Writes down what to run. Whatever is prepared stays as it is.
    fn prepare(&self, folder: &Path, spec: &RunSpec) -> Result<(), Fault>;
    /// Starts a keeper. Two keepers of one run are one.
    fn launch(&self, folder: &Path) -> Result<(), Fault>;
    /// Says how a run stands.
    fn look(&self, folder: &Path) -> Result<Look, Fault>;
    /// Asks a keeper to end its run.
    fn stop(&self, folder: &Path, reason: &str) -> Result<(), Fault>;
    /// Ends whatever a lost keeper left behind.
    fn sweep(&self, folder: &Path) -> Result<(), Fault>;
    /// What a run printed.
    fn output(&self, folder: &Path, stream: Stream) -> Output;
}

/// The loops' own repositories.
pub trait Repositories: Send + Sync {
    /// Makes a loop's repository with the base commit, or finds it made.
    fn create(&self, loop_id: &str, project_root: &Path, base: &CommitId) -> Result<(), Fault>;
    /// Opens the repository of a loop.
    fn open(&self, loop_id: &str) -> Result<Box<dyn Repository>, Fault>;
}

/// One loop's repository.
pub trait Repository: Send + Sync {
    /// Where it is, for a check's own process.
    fn path(&self) -> &Path;
    /// What is wrong with it as a whole, if anything is. It is asked after something failed in it.
    fn damage(&self) -> Option<Fault>;
    /// Writes the files of a commit into a new folder.
    fn checkout(&self, commit: &CommitId, folder: &Path) -> Result<(), Fault>;
    /// Writes the files of a tree into a new folder.
    fn checkout_tree(&self, tree: &TreeId, folder: &Path) -> Result<(), Fault>;
    /// Writes the files of a tree into a new folder, with a used checkout of this rack where there is one
    /// that can be put right; says what is to be removed.
    fn checkout_with(
        &self,
        tree: &TreeId,
        _rack: &Path,
        _name: &str,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, Fault> {
        self.checkout_tree(tree, folder).map(|()| Vec::new())
    }
    /// Puts a checkout of that name on the rack, or does not; says what is to be removed.
    fn put_away(&self, _rack: &Path, _name: &str, folder: &Path) -> Vec<PathBuf> {
        vec![folder.to_owned()]
    }
    /// Makes the agent's own throw-away repository in a checkout, with its former work on the branch
    /// `former`.
    fn make_agent_repo(
        &self,
        commit: &CommitId,
        former: Option<&CommitId>,
        folder: &Path,
    ) -> Result<(), Fault>;
    /// The folders that show the files of a tree as layers, the uppermost first, written into `store`
    /// where they are not there yet; none where that tree must be checked out.
    fn write_out(&self, _tree: &TreeId, _store: &Path) -> Result<Option<Vec<PathBuf>>, Fault> {
        Ok(None)
    }
    /// The same for the files of a commit with an agent's throw-away repository.
    fn write_out_for_agent(
        &self,
        _commit: &CommitId,
        _store: &Path,
    ) -> Result<Option<Vec<PathBuf>>, Fault> {
        Ok(None)
    }
    /// Adds former work on the branch `former` to the upper layer of such a repository.
    fn show_former(
        &self,
        _commit: &CommitId,
        _former: &CommitId,
        _upper: &Path,
    ) -> Result<(), Fault> {
        Ok(())
    }
    /// Reads layers into a tree: the files of `below`, and what the upper layer changes.
    fn snapshot_of_changes(
        &self,
        upper: &Path,
        below: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        self.snapshot(upper, below, kept)
    }
    /// Reads the files of a folder into a tree; paths in `kept` are as in the base.
    fn snapshot(&self, folder: &Path, base: &CommitId, kept: &[PathBuf])
    -> Result<Snapshot, Fault>;
    /// The same for a checkout that was made under this name, of which only what was touched is read.
    fn snapshot_with(
        &self,
        _rack: &Path,
        _name: &str,
        folder: &Path,
        base: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        self.snapshot(folder, base, kept)
    }
    /// Makes a commit of our own; the same words give the same id.
    fn commit(
        &self,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, Fault> {
        self.commit_by(&Signature::ours(), tree, parent, message, at_secs)
    }
    /// Makes a commit by somebody.
    fn commit_by(
        &self,
        author: &Signature,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, Fault>;
    /// The commit that the loop began with, where that is known.
    fn first_commit(&self) -> Result<Option<CommitId>, Fault> {
        Ok(None)
    }
    /// The tree of a commit.
    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, Fault>;
    /// The first parent of a commit.
    fn parent_of(&self, commit: &CommitId) -> Result<CommitId, Fault>;
    /// A commit's message.
    fn message_of(&self, commit: &CommitId) -> Result<String, Fault>;
    /// The difference between two commits: a listing of all changed files, then bounded patches.
    fn diff(&self, from: &CommitId, to: &CommitId, bytes_max: usize) -> Result<String, Fault>;
    /// Every path that differs between two trees.
    fn tree_changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, Fault>;
    /// The files that have the same content at another path in the second tree, old path first.
    fn renames(&self, from: &TreeId, to: &TreeId) -> Result<Vec<(PathBuf, PathBuf)>, Fault>;
    /// The tree that another becomes by edits.
    fn compose(&self, base: &TreeId, edits: &[Edit]) -> Result<TreeId, Fault>;
    /// Lays the tests of one author over the code of another.
    fn overlay(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        is_test: &dyn Fn(&Path) -> bool,
    ) -> Result<Overlay, Fault>;
    /// The last commit that two commits have in common.
    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, Fault>;
    /// The files of `onto` with what `work` changed since `base`, from which both descend.
    fn restack(
        &self,
        base: &CommitId,
        work: &CommitId,
        onto: &CommitId,
    ) -> Result<Restacked, Fault>;
    /// The files of a tree, for reading.
    fn reader(&self, tree: &TreeId) -> Result<Box<dyn TreeFiles>, Fault>;
    /// Where a ref points.
    fn read_ref(&self, name: &str) -> Result<Option<CommitId>, Fault>;
    /// Moves a ref from where it is known to be; none means that it must not exist.
    fn move_ref(&self, name: &str, from: Option<&CommitId>, to: &CommitId) -> Result<Moved, Fault>;
    /// Moves the loop's branch in the operator's repository.
    fn publish(
        &self,
        project_root: &Path,
        branch: &str,
        published: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<Published, Fault>;
}

/// The files of one tree.
pub trait TreeFiles {
    /// The content of a file; none when there is no file at this path.
    fn read(&self, path: &Path, bytes_max: usize) -> Option<Vec<u8>>;
    /// The target of a link; none for anything else.
    fn link(&self, path: &Path) -> Option<Vec<u8>>;
    /// What a path stands for; none for a folder and for nothing.
    fn entry(&self, path: &Path) -> Option<Entry>;
    /// The names in a folder.
    fn list(&self, folder: &Path) -> Vec<(OsString, Listed)>;
}

/// The log: records that survive a crash, appended by whoever holds the lease.
pub trait Log: Send + Sync {
    /// Appends one record after the expected one, if the fence still holds.
    fn append(
        &self,
        loop_id: &str,
        expected: u64,
        fence: &Fence,
        record: NewRecord<'_>,
    ) -> Result<u64, AppendError>;
    /// The records of a loop after a number.
    fn read(&self, loop_id: &str, after: u64) -> Result<Vec<Record>, ReadError>;
    /// All loops with their last record's kind.
    fn heads(&self) -> Result<Vec<LoopHead>, JournalError>;
    /// A number that changes when somebody else has written.
    fn change_mark(&self) -> Result<i64, JournalError>;
    /// Makes a loop refuse further records.
    fn quarantine(&self, loop_id: &str, why: &str) -> Result<(), JournalError>;
    /// Takes the worker's lease.
    fn take_lease(&self, now_ms: i64, ttl_ms: i64) -> Result<Option<Fence>, JournalError>;
    /// Extends it.
    fn renew_lease(&self, fence: &Fence, now_ms: i64, ttl_ms: i64) -> Result<bool, JournalError>;
    /// Gives it back.
    fn release_lease(&self, fence: &Fence) -> Result<(), JournalError>;
}
