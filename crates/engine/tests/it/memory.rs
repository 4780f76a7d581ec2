//! Ports that live in memory: a repository of maps, runs that are scripted, a clock that stands still
//! until somebody waits. Before and after each change of the outside the power may fail.
//!
//! They outlive every worker, as git and keepers do. Checkouts are real folders, since agents work in
//! them by path.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Fault, Look, Repositories, Repository, Runs, TreeFiles};
use sandbox::{ExitRecord, Output, RunSpec, Stream};
use workspace::{
    Change, CommitId, Edit, Entry, GitError, Listed, Mode, Moved, ObjectId, Overlap, Overlay,
    Published, Restacked, Signature, Snapshot, TreeId,
};

use crate::marks::Marks;

/// The power was cut: the worker is gone in the middle of whatever it did.
pub(crate) struct PowerCut;

/// Counts crash points over several lives of a worker, and cuts the power at one of them.
#[derive(Debug, Default)]
pub(crate) struct Power {
    points: Mutex<Vec<String>>,
    cut_at: Mutex<Vec<usize>>,
}

impl Power {
    /// Cuts the power at these points, counted from 1 over the whole life of the loop.
    pub(crate) fn cut_at(points: Vec<usize>) -> Arc<Self> {
        Arc::new(Self {
            points: Mutex::default(),
            cut_at: Mutex::new(points),
        })
    }

    pub(crate) fn point(&self, words: &str) {
        let mut points = lock(&self.points);
        points.push(words.to_owned());
        let number = points.len();
        drop(points);
        if lock(&self.cut_at).contains(&number) {
            // Without the panic hook: a power cut says nothing.
            std::panic::resume_unwind(Box::new(PowerCut));
        }
    }

    pub(crate) fn points(&self) -> Vec<String> {
        lock(&self.points).clone()
    }
}

/// Says whether a panic was a power cut; any other goes on.
pub(crate) fn is_power_cut(panic: Box<dyn Any + Send>) -> bool {
    match panic.downcast::<PowerCut>() {
        Ok(_) => true,
        Err(other) => std::panic::resume_unwind(other),
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tree: what each path stands for.
pub(crate) type Tree = BTreeMap<PathBuf, Entry>;

/// All objects and refs of one loop, and the operator's branch.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    blobs: BTreeMap<String, Vec<u8>>,
    trees: BTreeMap<String, Tree>,
    commits: BTreeMap<String, (TreeId, Option<CommitId>, String)>,
    pub(crate) refs: BTreeMap<String, CommitId>,
    pub(crate) published: BTreeMap<String, CommitId>,
    /// How often the operator's branch is still found checked out.
    pub(crate) publish_refusals: u32,
    /// The former work that agents were given.
    pub(crate) formers: BTreeSet<CommitId>,
}

fn id(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..40].to_owned()
}

impl Objects {
    fn blob(&mut self, bytes: &[u8]) -> Entry {
        let id = id(&[b"blob", bytes]);
        self.blobs.insert(id.clone(), bytes.to_vec());
        Entry {
            mode: Mode::File,
            id: ObjectId::parse(&id).expect("an id"),
        }
    }

    fn tree(&mut self, tree: Tree) -> TreeId {
        let text = format!("{tree:?}");
        let id = id(&[b"tree", text.as_bytes()]);
        self.trees.insert(id.clone(), tree);
        TreeId::parse(&id).expect("an id")
    }

    fn commit(
        &mut self,
        author: &Signature,
        tree: &TreeId,
        parent: Option<&CommitId>,
        message: &str,
        at_secs: i64,
    ) -> CommitId {
        let words = format!("{author} {tree} {parent:?} {at_secs} {message}");
        let id = id(&[b"commit", words.as_bytes()]);
        let commit = (tree.clone(), parent.cloned(), message.to_owned());
        self.commits.insert(id.clone(), commit);
        CommitId::parse(&id).expect("an id")
    }

    pub(crate) fn files(&self, tree: &TreeId) -> Tree {
        self.trees.get(tree.as_str()).expect("a known tree").clone()
    }

    pub(crate) fn bytes(&self, entry: &Entry) -> Vec<u8> {
        self.blobs
            .get(entry.id.as_str())
            .expect("a known blob")
            .clone()
    }

    pub(crate) fn tree_of(&self, commit: &CommitId) -> TreeId {
        self.commits
            .get(commit.as_str())
            .expect("a known commit")
            .0
            .clone()
    }

    /// A commit that a person makes on top of another one.
    pub(crate) fn commit_with(
        &mut self,
        parent: &CommitId,
        write: &BTreeMap<String, String>,
    ) -> CommitId {
        let mut files = self.files(&self.tree_of(parent));
        for (path, text) in write {
            let entry = self.blob(text.as_bytes());
            files.insert(PathBuf::from(path), entry);
        }
        let tree = self.tree(files);
        self.commit(&Signature::ours(), &tree, Some(parent), "by hand", 0)
    }

    /// Both sides' lines, where every line is still in its place and changed lines are well apart. The
    /// real merge is `workspace`'s; this one only has to refuse no less.
    fn merged(&mut self, sides: [Option<&Entry>; 3]) -> Option<Entry> {
        const APART: usize = 3;
        let text = |entry: Option<&Entry>| String::from_utf8(self.bytes(entry?)).ok();
        let texts = [text(sides[0])?, text(sides[1])?, text(sides[2])?];
        let [before, wanted, there] = texts
            .each_ref()
            .map(|text| text.lines().collect::<Vec<_>>());
        if before.len() != wanted.len() || before.len() != there.len() {
            return None;
        }
        let changed = |side: &[&str]| -> Vec<usize> {
            let lines = 0..before.len();
            lines.filter(|at| side[*at] != before[*at]).collect()
        };
        let (ours, theirs) = (changed(&there), changed(&wanted));
        let is_near = |one: usize| theirs.iter().any(|other| one.abs_diff(*other) < APART);
        if ours.iter().any(|at| is_near(*at)) {
            return None;
        }
        let line = |at: usize| {
            if ours.contains(&at) {
                there[at]
            } else {
                wanted[at]
            }
        };
        let both: Vec<&str> = (0..before.len()).map(line).collect();
        let end = if texts[1].ends_with('\n') { "\n" } else { "" };
        Some(self.blob((both.join("\n") + end).as_bytes()))
    }

    /// Whether a new path has no place beside what another side added: a file where a folder is, or a
    /// name that differs by case alone.
    fn has_no_place(path: &Path, base: &Tree, theirs: &Tree, tree: &Tree) -> bool {
        let folded = |path: &Path| path.to_string_lossy().to_lowercase();
        let added = tree.keys().filter(|known| !base.contains_key(*known));
        let mut added = added.filter(|known| theirs.get(*known) != tree.get(*known));
        added.any(|known| {
            let is_nested = known.starts_with(path) || path.starts_with(known);
            let is_twin = path.ancestors().any(|part| {
                let mut parts = known.ancestors();
                parts.any(|other| other != part && folded(other) == folded(part))
            });
            known != path && (is_nested || is_twin)
        })
    }

    /// A commit and its ancestors, newest first.
    fn line(&self, head: &CommitId) -> Vec<CommitId> {
        let mut line = Vec::new();
        let mut next = Some(head.clone());
        while let Some(commit) = next.take() {
            let (_, parent, _) = self.commits.get(commit.as_str()).expect("a commit");
            next.clone_from(parent);
            line.push(commit);
        }
        line
    }

    /// The subjects of a branch, newest first.
    pub(crate) fn log(&self, head: &CommitId) -> Vec<String> {
        let mut subjects = Vec::new();
        let mut next = Some(head.clone());
        while let Some(commit) = next.take() {
            let (_, parent, message) = self.commits.get(commit.as_str()).expect("a commit");
            let subject = message.lines().next().unwrap_or_default().to_owned();
            subjects.push(format!("{} {subject}", &commit.as_str()[..8]));
            next.clone_from(parent);
        }
        subjects
    }
}

/// The repositories of a play with one loop.
#[derive(Clone)]
pub(crate) struct MemoryRepositories {
    pub(crate) objects: Arc<Mutex<Objects>>,
    power: Arc<Power>,
    marks: Arc<Marks>,
    /// Stories at whose commits the operator's branch cannot be moved, and until when.
    pub(crate) kept_branches: Vec<(String, String)>,
}

impl MemoryRepositories {
    /// A project of these files; gives its first commit too.
    pub(crate) fn with_base(
        power: Arc<Power>,
        marks: Arc<Marks>,
        files: &BTreeMap<String, String>,
    ) -> (Self, CommitId) {
        let mut objects = Objects::default();
        let mut tree = Tree::new();
        for (path, text) in files {
            let entry = objects.blob(text.as_bytes());
            tree.insert(PathBuf::from(path), entry);
        }
        let tree = objects.tree(tree);
        let base = objects.commit(&Signature::ours(), &tree, None, "base", 0);
        let objects = Arc::new(Mutex::new(objects));
        let repositories = Self {
            objects,
            power,
            marks,
            kept_branches: Vec::new(),
        };
        (repositories, base)
    }

    /// Does something that a crash may come before or after.
    fn change<T>(&self, words: &str, change: impl FnOnce(&mut Objects) -> T) -> T {
        self.power.point(&format!("before {words}"));
        let done = change(&mut lock(&self.objects));
        self.power.point(&format!("after {words}"));
        done
    }
}

impl Repositories for MemoryRepositories {
    fn create(&self, _loop_id: &str, _project: &Path, base: &CommitId) -> Result<(), Fault> {
        self.change("the repository", |objects| {
            let name = format!("refs/loopwright/base/{base}");
            objects.refs.insert(name, base.clone());
        });
        Ok(())
    }

    fn open(&self, _loop_id: &str) -> Result<Box<dyn Repository>, Fault> {
        Ok(Box::new(self.clone()))
    }
}

impl Repository for MemoryRepositories {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn damage(&self) -> Option<Fault> {
        None
    }

    fn checkout(&self, commit: &CommitId, folder: &Path) -> Result<(), Fault> {
        let tree = lock(&self.objects).tree_of(commit);
        self.checkout_tree(&tree, folder)
    }

    fn checkout_tree(&self, tree: &TreeId, folder: &Path) -> Result<(), Fault> {
        if folder.exists() {
            let path = folder.to_owned();
            return Err(Fault::git(folder, GitError::Exists { path }));
        }
        let files: Vec<(PathBuf, Vec<u8>)> = {
            let objects = lock(&self.objects);
            let files = objects.files(tree).into_iter();
            files
                .map(|(path, entry)| (path, objects.bytes(&entry)))
                .collect()
        };
        self.power.point("before a checkout");
        fs::create_dir_all(folder).expect("a folder");
        for (number, (path, bytes)) in files.iter().enumerate() {
            if number == files.len() / 2 {
                // What is there now must never be taken for a whole checkout.
                self.power.point("in the middle of a checkout");
            }
            let target = folder.join(path);
            fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
            fs::write(target, bytes).expect("written");
        }
        self.power.point("after a checkout");
        Ok(())
    }

    fn make_agent_repo(
        &self,
        _commit: &CommitId,
        former: Option<&CommitId>,
        folder: &Path,
    ) -> Result<(), Fault> {
        self.change("the agent's repository", |objects| {
            objects.formers.extend(former.cloned());
            fs::create_dir_all(folder.join(".git")).expect("made");
        });
        Ok(())
    }

    fn snapshot(
        &self,
        folder: &Path,
        base: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        let mut objects = lock(&self.objects);
        let base_tree = objects.tree_of(base);
        let mut tree = Tree::new();
        for path in files_below(folder) {
            let bytes = fs::read(folder.join(&path)).expect("read");
            let entry = objects.blob(&bytes);
            tree.insert(path, entry);
        }
        let before = objects.files(&base_tree);
        for path in kept {
            tree.retain(|found, _| !found.starts_with(path));
            let of_base = before.iter().filter(|(found, _)| found.starts_with(path));
            tree.extend(of_base.map(|(path, entry)| (path.clone(), entry.clone())));
        }
        let tree = objects.tree(tree);
        Ok(Snapshot {
            changed: tree != base_tree,
            tree,
            left_out: Vec::new(),
            n_left_out: 0,
            newly_ignored: Vec::new(),
            n_newly_ignored: 0,
            bad_links: Vec::new(),
            odd: Vec::new(),
        })
    }

    fn commit_by(
        &self,
        author: &Signature,
        tree: &TreeId,
        parent: &CommitId,
        message: &str,
        at_secs: i64,
    ) -> Result<CommitId, Fault> {
        Ok(self.change("a commit", |objects| {
            objects.commit(author, tree, Some(parent), message, at_secs)
        }))
    }

    fn tree_of(&self, commit: &CommitId) -> Result<TreeId, Fault> {
        Ok(lock(&self.objects).tree_of(commit))
    }

    fn parent_of(&self, commit: &CommitId) -> Result<CommitId, Fault> {
        let objects = lock(&self.objects);
        let (_, parent, _) = objects.commits.get(commit.as_str()).expect("a commit");
        Ok(parent.clone().expect("a parent"))
    }

    fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, Fault> {
        let objects = lock(&self.objects);
        let line = objects.line(one);
        let other = objects.line(other);
        Ok(other.into_iter().find(|commit| line.contains(commit)))
    }

    /// The rules of `workspace`, with a merge of texts that refuses more.
    fn restack(
        &self,
        base: &CommitId,
        work: &CommitId,
        onto: &CommitId,
    ) -> Result<Restacked, Fault> {
        let mut objects = lock(&self.objects);
        let files = |commit| objects.files(&objects.tree_of(commit));
        let (base, theirs, mut tree) = (files(base), files(work), files(onto));
        let (mut conflicts, mut overlap) = (Vec::new(), Overlap::Disjoint);
        let mut paths: Vec<PathBuf> = base.keys().chain(theirs.keys()).cloned().collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let [before, wanted, there] = [&base, &theirs, &tree].map(|one| one.get(&path));
            if before == wanted {
                continue;
            }
            if before != there {
                overlap = Overlap::Mixed;
                if wanted == there {
                    continue;
                }
                match objects.merged([before, wanted, there]) {
                    Some(entry) => drop(tree.insert(path, entry)),
                    None => conflicts.push(path),
                }
                continue;
            }
            match wanted.cloned() {
                Some(_) if Objects::has_no_place(&path, &base, &theirs, &tree) => {
                    conflicts.push(path);
                }
                Some(entry) => drop(tree.insert(path, entry)),
                None => drop(tree.remove(&path)),
            }
        }
        if !conflicts.is_empty() {
            return Ok(Restacked::Conflict(conflicts));
        }
        let tree = objects.tree(tree);
        Ok(Restacked::Clean { tree, overlap })
    }

    fn message_of(&self, commit: &CommitId) -> Result<String, Fault> {
        let objects = lock(&self.objects);
        let (_, _, message) = objects.commits.get(commit.as_str()).expect("a commit");
        Ok(message.clone())
    }

    fn diff(&self, from: &CommitId, to: &CommitId, _bytes_max: usize) -> Result<String, Fault> {
        let (from, to) = (self.tree_of(from)?, self.tree_of(to)?);
        let changes = self.tree_changes(&from, &to)?;
        let paths = changes
            .iter()
            .map(|change| change.path.display().to_string());
        Ok(paths.collect::<Vec<_>>().join("\n"))
    }

    fn tree_changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, Fault> {
        let objects = lock(&self.objects);
        let (before, after) = (objects.files(from), objects.files(to));
        let mut paths: Vec<&PathBuf> = before.keys().chain(after.keys()).collect();
        paths.sort();
        paths.dedup();
        let changed = paths
            .into_iter()
            .filter(|path| before.get(*path) != after.get(*path));
        Ok(changed
            .map(|path| Change {
                path: path.clone(),
                before: before.get(path).cloned(),
                after: after.get(path).cloned(),
            })
            .collect())
    }

    fn renames(&self, from: &TreeId, to: &TreeId) -> Result<Vec<(PathBuf, PathBuf)>, Fault> {
        let changes = self.tree_changes(from, to)?;
        let (gone, new): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .filter(|change| change.before.is_none() || change.after.is_none())
            .partition(|change| change.after.is_none());
        let mut new: Vec<_> = new.into_iter().map(Some).collect();
        let mut renames = Vec::new();
        for old in gone {
            let same =
                |new: &&mut Option<Change>| new.as_ref().is_some_and(|new| new.after == old.before);
            if let Some(new) = new.iter_mut().find(same).and_then(Option::take) {
                renames.push((old.path, new.path));
            }
        }
        Ok(renames)
    }

    fn compose(&self, base: &TreeId, edits: &[Edit]) -> Result<TreeId, Fault> {
        let mut objects = lock(&self.objects);
        let mut tree = objects.files(base);
        for edit in edits {
            match edit {
                Edit::Put { path, mode, id } => {
                    let entry = Entry {
                        mode: *mode,
                        id: id.clone(),
                    };
                    tree.insert(path.clone(), entry);
                }
                Edit::Write { path, bytes, .. } => {
                    let entry = objects.blob(bytes);
                    tree.insert(path.clone(), entry);
                }
                Edit::Remove { path } => tree.retain(|found, _| !found.starts_with(path)),
            }
        }
        Ok(objects.tree(tree))
    }

    /// The writer's tests win, whatever the implementor did there.
    fn overlay(
        &self,
        base: &TreeId,
        code: &TreeId,
        tests: &TreeId,
        is_test: &dyn Fn(&Path) -> bool,
    ) -> Result<Overlay, Fault> {
        let mut tree = lock(&self.objects).files(code);
        let (mut writer_files, mut removed, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
        for change in self.tree_changes(base, tests)? {
            match change.after {
                Some(entry) if is_test(&change.path) => {
                    tree.insert(change.path.clone(), entry);
                    writer_files.push(change.path);
                }
                None if is_test(&change.path) => {
                    tree.remove(&change.path);
                    removed.push(change.path);
                }
                _ => dropped.push(change.path),
            }
        }
        let by_implementor = self.tree_changes(base, code)?.into_iter();
        let implementor_tests = by_implementor
            .filter(|change| change.before.is_some() && is_test(&change.path))
            .map(|change| change.path)
            .collect();
        Ok(Overlay {
            tree: lock(&self.objects).tree(tree),
            writer_files,
            removed,
            dropped,
            conflicts: Vec::new(),
            implementor_tests,
            overridden: Vec::new(),
        })
    }

    fn reader(&self, tree: &TreeId) -> Result<Box<dyn TreeFiles>, Fault> {
        let objects = lock(&self.objects);
        let files = objects.files(tree);
        let contents = files
            .iter()
            .map(|(path, entry)| (path.clone(), (entry.clone(), objects.bytes(entry))));
        Ok(Box::new(MemoryFiles(contents.collect())))
    }

    fn read_ref(&self, name: &str) -> Result<Option<CommitId>, Fault> {
        Ok(lock(&self.objects).refs.get(name).cloned())
    }

    fn move_ref(&self, name: &str, from: Option<&CommitId>, to: &CommitId) -> Result<Moved, Fault> {
        Ok(
            self.change(&format!("the ref {}", kind_of(name)), |objects| {
                let there = objects.refs.get(name).cloned();
                if there.as_ref() == Some(to) {
                    return Moved::AlreadyThere;
                }
                if there.as_ref() != from {
                    return Moved::Refused { found: there };
                }
                objects.refs.insert(name.to_owned(), to.clone());
                Moved::Done
            }),
        )
    }

    fn publish(
        &self,
        _project: &Path,
        branch: &str,
        published: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<Published, Fault> {
        let mut objects = lock(&self.objects);
        let message = objects
            .commits
            .get(to.as_str())
            .map(|(_, _, words)| words.clone());
        let message = message.unwrap_or_default();
        let is_kept = |(story, after): &(String, String)| {
            let is_its = message
                .lines()
                .any(|line| *line == format!("Story-Id: {story}"));
            is_its && !self.marks.has(after)
        };
        if self.kept_branches.iter().any(is_kept) {
            let at = PathBuf::from("elsewhere");
            return Ok(Published::CheckedOut { at });
        }
        if objects.publish_refusals > 0 {
            objects.publish_refusals -= 1;
            let at = PathBuf::from("elsewhere");
            return Ok(Published::CheckedOut { at });
        }
        drop(objects);
        Ok(self.change("the operator's branch", |objects| {
            let there = objects.published.get(branch).cloned();
            if there.as_ref() == Some(to) {
                return Published::AlreadyThere;
            }
            if there.as_ref() != published {
                return Published::MovedBySomebody { found: there };
            }
            objects.published.insert(branch.to_owned(), to.clone());
            Published::Done
        }))
    }
}

/// What kind of ref it is, without the story's name.
fn kind_of(name: &str) -> String {
    name.split('/').take(3).collect::<Vec<_>>().join("/")
}

struct MemoryFiles(BTreeMap<PathBuf, (Entry, Vec<u8>)>);

impl TreeFiles for MemoryFiles {
    fn read(&self, path: &Path, bytes_max: usize) -> Option<Vec<u8>> {
        let (_, bytes) = self.0.get(path)?;
        (bytes.len() <= bytes_max).then(|| bytes.clone())
    }

    fn link(&self, path: &Path) -> Option<Vec<u8>> {
        let (entry, bytes) = self.0.get(path)?;
        (!entry.mode.is_regular()).then(|| bytes.clone())
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        self.0.get(path).map(|(entry, _)| entry.clone())
    }

    fn list(&self, folder: &Path) -> Vec<(OsString, Listed)> {
        let mut names: BTreeMap<OsString, Listed> = BTreeMap::new();
        for (path, (entry, _)) in &self.0 {
            let Ok(below) = path.strip_prefix(folder) else {
                continue;
            };
            let mut parts = below.components();
            if let Some(first) = parts.next() {
                let listed = match parts.next() {
                    Some(_) => Listed::Folder,
                    None => Listed::Entry(entry.clone()),
                };
                names.insert(first.as_os_str().to_owned(), listed);
            }
        }
        names.into_iter().collect()
    }
}

/// The files below a folder, relative to it; an agent's own repository is not among them.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner)).expect("listed").flatten() {
            let path = inner.join(entry.file_name());
            let is_folder = entry.file_type().expect("a type").is_dir();
            if path.starts_with(".git") {
                continue;
            }
            if is_folder {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

/// How a scripted run ends.
pub(crate) enum Ends {
    Exit(Box<ExitRecord>),
    Lost,
    Rebooted,
}

/// What does the work of runs: writes files into checkouts and output into run folders.
pub(crate) type Script = dyn Fn(&Path, &RunSpec) -> Played + Send + Sync;

/// What a run did, and the records after which it ends.
pub(crate) struct Played {
    pub(crate) ends: Ends,
    pub(crate) ends_after: Option<String>,
}

enum Kept {
    Prepared(Box<RunSpec>),
    /// Launched; it is seen under way this many times before its end is, and until then.
    Running(u32, Option<String>, Ends),
    Over(Ends),
}

/// Runs whose agents are scripts in this process.
pub(crate) struct MemoryRuns {
    runs: Mutex<BTreeMap<PathBuf, Kept>>,
    /// The run ids of all starts, to see that none is started twice.
    pub(crate) starts: Arc<Mutex<Vec<String>>>,
    script: Box<Script>,
    power: Arc<Power>,
    marks: Arc<Marks>,
}

impl MemoryRuns {
    pub(crate) fn new(power: Arc<Power>, marks: Arc<Marks>, script: Box<Script>) -> Arc<Self> {
        Arc::new(Self {
            runs: Mutex::default(),
            starts: Arc::default(),
            script,
            power,
            marks,
        })
    }
}

/// The same runs for one worker after the other.
pub(crate) struct SharedRuns(pub(crate) Arc<MemoryRuns>);

impl Runs for SharedRuns {
    fn prepare(&self, folder: &Path, spec: &RunSpec) -> Result<(), Fault> {
        self.0.power.point("before a spec");
        let mut runs = lock(&self.0.runs);
        let prepared = Kept::Prepared(Box::new(spec.clone()));
        runs.entry(folder.to_owned()).or_insert(prepared);
        drop(runs);
        self.0.power.point("after a spec");
        Ok(())
    }

    fn launch(&self, folder: &Path) -> Result<(), Fault> {
        self.0.power.point("before a launch");
        let prepared = lock(&self.0.runs).remove(folder);
        let launched = match prepared.expect("a prepared run") {
            Kept::Prepared(spec) => {
                lock(&self.0.starts).push(spec.run_id.clone());
                let played = (self.0.script)(folder, &spec);
                Kept::Running(1, played.ends_after, played.ends)
            }
            // Two keepers of one run are one.
            other => other,
        };
        lock(&self.0.runs).insert(folder.to_owned(), launched);
        self.0.power.point("after a launch");
        Ok(())
    }

    fn look(&self, folder: &Path) -> Result<Look, Fault> {
        let mut runs = lock(&self.0.runs);
        let Some(kept) = runs.remove(folder) else {
            return Ok(Look::Unprepared);
        };
        let kept = match kept {
            Kept::Running(looks, Some(after), ends) if !self.0.marks.has(&after) => {
                Kept::Running(looks, Some(after), ends)
            }
            Kept::Running(0, _, ends) => Kept::Over(ends),
            Kept::Running(looks, after, ends) => Kept::Running(looks - 1, after, ends),
            other => other,
        };
        let look = match &kept {
            Kept::Prepared(_) => Look::Prepared,
            Kept::Running(..) => Look::Running,
            Kept::Over(Ends::Exit(exit)) => Look::Ended(exit.clone()),
            Kept::Over(Ends::Lost) => Look::Lost,
            Kept::Over(Ends::Rebooted) => Look::Rebooted,
        };
        runs.insert(folder.to_owned(), kept);
        Ok(look)
    }

    fn stop(&self, folder: &Path, _reason: &str) -> Result<(), Fault> {
        self.0.power.point("before a stop");
        let mut runs = lock(&self.0.runs);
        if let Some(Kept::Running(_, _, ends)) = runs.remove(folder) {
            runs.insert(folder.to_owned(), Kept::Over(ends));
        }
        Ok(())
    }

    fn sweep(&self, _folder: &Path) -> Result<(), Fault> {
        self.0.power.point("before a sweep");
        Ok(())
    }

    fn output(&self, folder: &Path, stream: Stream) -> Output {
        sandbox::output(folder, stream).unwrap_or_default()
    }
}
