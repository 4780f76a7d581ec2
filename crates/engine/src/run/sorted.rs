//! A candidate's changes, sorted: product code, tests, and suspects; and the tree that must prove the
//! story.
//!
//! The proof's tree is the base with the candidate's product code and exactly the writer's test
//! files. Whatever else the implementor changed is not in it: tests, helpers, configuration, scripts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checks::items::{Items, test_items, with_base_tests};
use checks::rules::{Changed, Class, Suspicion, Why, is_manifest, with_new_dependencies};
use home::Settings;
use workspace::{Change, Edit, Entry, Mode, TreeId};

use crate::fault::Fault;
use crate::ports::{Repository, TreeFiles};
use crate::run::project_tree::{ProjectTree, placed, seen_from};
use crate::run::test_rules::{TestRules, read_text};

/// A changed file that is not known as product code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    /// Its path in the repository.
    pub(crate) path: String,
    pub(crate) why: Why,
}

/// The implementor's changes, by what they are.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) code: Vec<Change>,
    pub(crate) tests: Vec<Change>,
    pub(crate) suspects: Vec<(Change, Why)>,
}

impl Sorted {
    /// Sorts what differs between two trees, without some files.
    pub(crate) fn of(
        repository: &dyn Repository,
        settings: &Settings,
        base: &TreeId,
        tree: &TreeId,
        without: &[PathBuf],
    ) -> Result<Self, Fault> {
        let rules = TestRules::of(repository, settings, base)?;
        let project = ProjectTree::of(repository, base, &settings.subdir)?;
        let commands: Vec<&str> = settings
            .checks
            .iter()
            .map(|check| check.command.as_str())
            .collect();
        let rule = Sorter {
            suspicion: Suspicion::of(&commands, &project, rules.paths()),
            subdir: &settings.subdir,
            after: repository.reader(tree)?,
        };
        let mut sorted = Self::default();
        for change in repository.tree_changes(base, tree)? {
            if without.contains(&change.path) {
                continue;
            }
            match rule.class(&change) {
                Class::Code => sorted.code.push(change),
                Class::Test => sorted.tests.push(change),
                Class::Suspect(why) => sorted.suspects.push((change, why)),
            }
        }
        Ok(sorted)
    }

    /// The suspects that belong to the harness, where there are others too.
    pub(crate) fn harness(&self) -> Vec<PathBuf> {
        let reads = |why: Why| matches!(why, Why::Read | Why::Unknown);
        let (others, harness): (Vec<_>, Vec<_>) =
            self.suspects.iter().partition(|(_, why)| reads(*why));
        if others.is_empty() {
            return Vec::new();
        }
        let paths = harness.into_iter().map(|(change, _)| change.path.clone());
        paths.collect()
    }

    /// The suspects, for people and judges.
    pub(crate) fn suspects(&self) -> Vec<Suspect> {
        let suspects = self.suspects.iter().map(|(change, why)| Suspect {
            path: change.path.to_string_lossy().into_owned(),
            why: *why,
        });
        suspects.collect()
    }
}

struct Sorter<'a> {
    suspicion: Suspicion<'a>,
    subdir: &'a str,
    after: Box<dyn TreeFiles>,
}

impl Sorter<'_> {
    /// What a change is. A name that is no UTF-8 is known to nobody.
    fn class(&self, change: &Change) -> Class {
        let Some(path) = change.path.to_str() else {
            return Class::Suspect(Why::Unknown);
        };
        let local = seen_from(self.subdir, path);
        let irregular =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| !entry.mode.is_regular());
        let is_irregular = irregular(&change.before) || irregular(&change.after);
        self.suspicion.class(&Changed {
            path: &local,
            was_there: change.before.is_some(),
            is_irregular,
            leads_to: is_irregular.then(|| self.leads_to(path, change)).flatten(),
        })
    }

    /// Where a link leads inside the repository, seen from the project's folder.
    fn leads_to(&self, path: &str, change: &Change) -> Option<String> {
        let target = String::from_utf8(self.after.link(&change.path)?).ok()?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let place = placed(folder, &target);
        let is_inside = !target.starts_with('/') && self.after.entry(Path::new(&place)).is_some();
        is_inside.then(|| seen_from(self.subdir, &place))
    }
}

/// The tree that must prove the story, and what the texts say beside it.
pub(crate) struct ProofTree {
    pub(crate) tree: TreeId,
    /// The same without the writer's files.
    pub(crate) old_form: TreeId,
    /// Files with older tests that the implementor changed or removed.
    pub(crate) edited: Vec<PathBuf>,
    /// Those of them that are product code.
    pub(crate) edited_code: Vec<PathBuf>,
    /// Older tests whose text the implementor changed or removed.
    pub(crate) changed_tests: Vec<String>,
}

/// Whatever making the proof's tree looks at.
pub(crate) struct Proving<'a> {
    pub(crate) repository: &'a dyn Repository,
    pub(crate) base: &'a TreeId,
    pub(crate) candidate: &'a TreeId,
    pub(crate) sorted: &'a Sorted,
}

impl Proving<'_> {
    /// Makes the proof's tree; the writer's files come from the tree of its tests.
    pub(crate) fn tree(
        &self,
        tests: Option<&TreeId>,
        writer_files: &[PathBuf],
    ) -> Result<ProofTree, Fault> {
        let (before, after) = (
            self.repository.reader(self.base)?,
            self.repository.reader(self.candidate)?,
        );
        let mut made = Making {
            before: &*before,
            after: &*after,
            edits: Vec::new(),
            edited: Vec::new(),
            changed_tests: BTreeSet::new(),
        };
        for change in &self.sorted.code {
            made.take_code(change);
        }
        let edited_code = made.edited.clone();
        made.take_manifests(&self.sorted.suspects);
        let renames = made.renames(&self.sorted.code);
        let everywhere = made.bodies_after(&self.sorted.tests, &self.sorted.code);
        made.compare_removed_code(&self.sorted.code, &renames, &everywhere);
        for change in &self.sorted.tests {
            made.take_test(change, &renames, &everywhere);
        }
        let Making {
            edits,
            edited,
            changed_tests,
            ..
        } = made;
        let old_form = self.composed(self.base, &edits)?;
        let tree = match tests {
            Some(tests) => {
                let written = self.repository.reader(tests)?;
                let edits: Vec<Edit> = writer_files
                    .iter()
                    .map(|path| put_or_remove(path, written.entry(path)))
                    .collect();
                self.composed(&old_form, &edits)?
            }
            None => old_form.clone(),
        };
        Ok(ProofTree {
            tree,
            old_form,
            edited,
            edited_code,
            changed_tests: changed_tests.into_iter().collect(),
        })
    }

    fn composed(&self, tree: &TreeId, edits: &[Edit]) -> Result<TreeId, Fault> {
        if edits.is_empty() {
            return Ok(tree.clone());
        }
        self.repository.compose(tree, edits)
    }
}

struct Making<'a> {
    before: &'a dyn TreeFiles,
    after: &'a dyn TreeFiles,
    edits: Vec<Edit>,
    edited: Vec<PathBuf>,
    changed_tests: BTreeSet<String>,
}

impl Making<'_> {
    /// Product code is the candidate's; tests that stand in it are the base's.
    fn take_code(&mut self, change: &Change) {
        let path = &change.path;
        let is_text = change.before.is_some()
            && change
                .after
                .as_ref()
                .is_some_and(|entry| entry.mode.is_regular());
        if is_text {
            let (old, new) = (read_text(self.before, path), read_text(self.after, path));
            let name = path.to_string_lossy();
            match with_base_tests(&name, &old, &new) {
                // Python has no syntax for tests inside product files, but people have them.
                Items::Same if names_a_runner(&old) => self.compare_plain_items(path, &old, &new),
                Items::Same => {}
                Items::Replaced(text) => {
                    self.edited.push(path.clone());
                    self.compare_items(&name, &old, &new);
                    self.edits.push(Edit::Write {
                        path: path.clone(),
                        mode: mode_of(change),
                        bytes: text.into_bytes(),
                    });
                    return;
                }
                Items::Unsure(names) => {
                    self.edited.push(path.clone());
                    self.changed_tests.extend(names);
                }
            }
        } else if change.after.is_none() {
            let old = read_text(self.before, path);
            if !test_items(&path.to_string_lossy(), &old).is_empty() {
                self.edited.push(path.clone());
            }
        }
        self.edits.push(put_or_remove(path, change.after.clone()));
    }

    /// Older tests in product files that are gone: a file that was renamed takes its tests along.
    fn compare_removed_code(
        &mut self,
        code: &[Change],
        renames: &[(String, String)],
        everywhere: &BTreeSet<String>,
    ) {
        for change in code.iter().filter(|change| change.after.is_none()) {
            let name = change.path.to_string_lossy();
            for (test, body) in test_items(&name, &read_text(self.before, &change.path)) {
                if !everywhere.contains(&squeezed(&body)) && !follows_in(&body, everywhere, renames)
                {
                    self.changed_tests.insert(test);
                }
            }
        }
    }

    /// Older tests inside a file whose text is not there any more.
    fn compare_items(&mut self, name: &str, old: &str, new: &str) {
        let now: BTreeSet<String> = bodies(name, new);
        for (test, body) in test_items(name, old) {
            if !now.contains(&squeezed(&body)) {
                self.changed_tests.insert(test);
            }
        }
    }

    fn compare_plain_items(&mut self, path: &Path, old: &str, new: &str) {
        let n_before = self.changed_tests.len();
        self.compare_items(&path.to_string_lossy(), old, new);
        if self.changed_tests.len() > n_before {
            self.edited.push(path.to_owned());
        }
    }

    /// Manifests are the base's with plain new dependencies. A lock and its manifest go together.
    fn take_manifests(&mut self, suspects: &[(Change, Why)]) {
        let mut merged: Vec<(PathBuf, Mode, Option<String>)> = Vec::new();
        for (change, _) in suspects {
            let path = change.path.to_string_lossy();
            let is_plain =
                |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| entry.mode.is_regular());
            if !is_manifest(&path) || !is_plain(&change.before) || !is_plain(&change.after) {
                continue;
            }
            let (old, new) = (
                read_text(self.before, &change.path),
                read_text(self.after, &change.path),
            );
            let text = with_new_dependencies(&path, &old, &new);
            merged.push((change.path.clone(), mode_of(change), text));
        }
        let folder = |path: &PathBuf| path.parent().map(Path::to_owned);
        let refused: Vec<Option<PathBuf>> = merged
            .iter()
            .filter(|(_, _, text)| text.is_none())
            .map(|(path, _, _)| folder(path))
            .collect();
        for (path, mode, text) in merged {
            if let Some(text) = text.filter(|_| !refused.contains(&folder(&path))) {
                self.edits.push(Edit::Write {
                    path,
                    mode,
                    bytes: text.into_bytes(),
                });
            }
        }
    }

    /// Product files that were renamed, exactly or nearly: names without folders.
    fn renames(&self, code: &[Change]) -> Vec<(String, String)> {
        let gone = code.iter().filter(|change| change.after.is_none());
        let new: Vec<&Change> = code
            .iter()
            .filter(|change| change.before.is_none())
            .collect();
        let mut renames = Vec::new();
        for old in gone {
            let is_it = |new: &&&Change| {
                let same = old.before.as_ref().map(|entry| &entry.id)
                    == new.after.as_ref().map(|entry| &entry.id);
                same || is_alike(
                    &read_text(self.before, &old.path),
                    &read_text(self.after, &new.path),
                )
            };
            if let Some(new) = new.iter().find(is_it) {
                let text = |path: &Path| path.to_string_lossy().into_owned();
                renames.push((text(&old.path), text(&new.path)));
            }
        }
        renames
    }

    /// The bodies of all tests in the files that the implementor changed.
    fn bodies_after(&self, tests: &[Change], code: &[Change]) -> BTreeSet<String> {
        let changes = tests
            .iter()
            .chain(code)
            .filter(|change| change.after.is_some());
        changes
            .flat_map(|change| {
                let name = change.path.to_string_lossy().into_owned();
                bodies(&name, &read_text(self.after, &change.path))
            })
            .collect()
    }

    /// A test of the implementor's is not in the proof. An older one that only follows a renamed
    /// file is what it was.
    fn take_test(
        &mut self,
        change: &Change,
        renames: &[(String, String)],
        everywhere: &BTreeSet<String>,
    ) {
        let path = &change.path;
        if change.before.is_none() {
            return;
        }
        let (old, new) = (read_text(self.before, path), read_text(self.after, path));
        if change.after.is_some() && follows(&old, &new, renames) {
            self.edits.push(put_or_remove(path, change.after.clone()));
            return;
        }
        self.edited.push(path.clone());
        let name = path.to_string_lossy();
        let items = test_items(&name, &old);
        for (test, body) in &items {
            if !everywhere.contains(&squeezed(body)) && !follows_in(body, everywhere, renames) {
                self.changed_tests.insert(test.clone());
            }
        }
        // A script that is one test as a whole, or data: only additions leave it what it was.
        let is_moved = everywhere.contains(&squeezed(&old));
        if items.is_empty() && !only_grew(&old, &new) && !is_moved && is_whole_test(&name) {
            self.changed_tests.insert(name.into_owned());
        }
    }
}

/// Says whether a file without named tests is itself a test, as a script is.
fn is_whole_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".sh", ".bash", ".t", ".bats", ".pl", ".rb", ".php", ".lua"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Says whether a Python file uses a test runner, so that it may hold tests wherever it lies.
fn names_a_runner(text: &str) -> bool {
    [
        "import unittest",
        "from unittest",
        "import pytest",
        "from pytest",
    ]
    .iter()
    .any(|line| text.contains(line))
}

fn put_or_remove(path: &Path, entry: Option<Entry>) -> Edit {
    match entry {
        Some(Entry { mode, id }) => Edit::Put {
            path: path.to_owned(),
            mode,
            id,
        },
        None => Edit::Remove {
            path: path.to_owned(),
        },
    }
}

fn mode_of(change: &Change) -> Mode {
    change.after.as_ref().map_or(Mode::File, |entry| entry.mode)
}

/// The bodies of a file's tests without white space; a script is one body.
fn bodies(path: &str, text: &str) -> BTreeSet<String> {
    let items = test_items(path, text);
    if items.is_empty() {
        return BTreeSet::from([squeezed(text)]);
    }
    items.iter().map(|(_, body)| squeezed(body)).collect()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Says whether all old lines are still there, in their order.
fn only_grew(old: &str, new: &str) -> bool {
    let mut lines = new.lines();
    old.lines().all(|line| lines.any(|new| new == line))
}

/// Says whether at least half of the lines of two texts are the same.
fn is_alike(old: &str, new: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.len() > 2)
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    let (old, new) = (lines(old), lines(new));
    let n_same = old
        .iter()
        .filter(|line| new.binary_search(line).is_ok())
        .count();
    !old.is_empty() && 2 * n_same >= old.len().max(new.len())
}

/// Says whether a test differs from its old form only by the new names of renamed files.
fn follows(old: &str, new: &str, renames: &[(String, String)]) -> bool {
    !renames.is_empty() && renamed(old, renames) == *new
}

fn follows_in(body: &str, everywhere: &BTreeSet<String>, renames: &[(String, String)]) -> bool {
    !renames.is_empty() && everywhere.contains(&squeezed(&renamed(body, renames)))
}

/// A text with the names of renamed files replaced: paths, names, and names without their end.
fn renamed(text: &str, renames: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (old, new) in renames {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let stem = |path: &str| {
            let name = name(path);
            name.split('.').next().unwrap_or(&name).to_owned()
        };
        text = replaced_words(&text, old, new);
        text = replaced_words(&text, &name(old), &name(new));
        text = replaced_words(&text, &stem(old), &stem(new));
    }
    text
}

/// Replaces a name where it stands alone.
fn replaced_words(text: &str, old: &str, new: &str) -> String {
    if old.is_empty() || old == new {
        return text.to_owned();
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let before = rest[..at]
            .chars()
            .next_back()
            .or_else(|| out.chars().next_back());
        let after = rest[at + old.len()..].chars().next();
        out.push_str(&rest[..at]);
        let is_word = !before.is_some_and(is_part) && !after.is_some_and(is_part);
        out.push_str(if is_word { new } else { old });
        rest = &rest[at + old.len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_follows_a_renamed_file_and_nothing_else() {
        let renames = vec![("calc.sh".to_owned(), "sum.sh".to_owned())];
        for (old, new, expected) in [
            ("sh calc.sh add 1 2", "sh sum.sh add 1 2", true),
            ("sh calc.sh add 1 2", "sh sum.sh add 1 3", false),
            ("from calc import add\n", "from sum import add\n", true),
            ("recalc calc", "recalc sum", true),
            ("sh calc.sh", "true", false),
        ] {
            assert_eq!(follows(old, new, &renames), expected, "{old} {new}");
        }
        assert!(!follows("a", "a", &[]), "nothing was renamed");
    }

    #[test]
    fn a_script_that_only_grew_is_what_it_was() {
        assert!(only_grew("a\nb\n", "x\na\ny\nb\n"));
        assert!(!only_grew("a\nb\n", "b\na\n") && !only_grew("a\nb\n", "a\n"));
    }
}
