//! Outputs of the project's own packages, for trees that do not touch them.
//!
//! They are set aside before a root is cleared of them, and lie in a layer of their own. Over a tree
//! everything is taken out of that layer again but the outputs of packages of which git says that nothing
//! they were made from differs; those get a new time, so that cargo believes them. What was made of a
//! package's binaries, examples, build scripts and macros outside of cargo's own folders is never kept: cargo
//! puts it there anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use checks::warm::{OwnPackages, files_read, may_read_more};
use workspace::{Mode, TreeId, moment};

use super::command::say;
use super::meter::Meter;
use super::outputs::{build_folders, folders_in, set_time};
use crate::fault::Fault;
use crate::ports::TreeFiles;
use crate::run::roots::{OwnTier, Root};

/// Where they lie in the tree until they are moved into the root.
pub(super) const OWN: &str = ".own-outputs-of-a-root";

/// The folder in which cargo notes what it built, one folder for each unit.
const NOTES: &str = ".fingerprint";

/// The folder in which the compiler's outputs lie.
const OUTPUTS: &str = "deps";

/// A note of cargo's whose time it compares with those of the sources.
const TIMED: &str = "dep-";

/// The length of the hash in a unit's name.
const HASH_CHARS: usize = 16;

impl Meter<'_> {
    /// Sets the outputs of own packages aside, where there are several and some of them depend on nothing
    /// but what can be seen.
    pub(super) fn set_own_aside(
        &mut self,
        tree: &TreeId,
        target: &str,
        installed: &[String],
    ) -> Result<Option<OwnTier>, Fault> {
        let question = format!(
            "cargo metadata --all-features --format-version 1 --offline > {}",
            self.commands.report_inside()
        );
        self.commands.ask("root", &question)?;
        let lane = self.commands.lane;
        let said = fs::read(lane.report()).unwrap_or_default();
        let packages = OwnPackages::read(&said, sandbox::WORKSPACE);
        let Some(mut packages) = packages.filter(|packages| packages.n_packages() > 1) else {
            return Ok(None);
        };
        if let Some(why) = self.why_not(target, installed) {
            say(&format!("== root: own packages are always built: {why}"));
            return Ok(None);
        }
        let files = self.commands.repository.reader(tree)?;
        match set_aside(&lane.tree(), target, &mut packages, &*files) {
            Ok(true) => Ok(Some(OwnTier {
                tree: tree.to_string(),
                target: target.to_owned(),
                packages,
            })),
            Ok(false) => Ok(None),
            Err(error) => {
                say(&format!("== root: own packages are always built: {error}"));
                Ok(None)
            }
        }
    }

    /// Why what was built here cannot be told from the tree's files.
    fn why_not(&self, target: &str, installed: &[String]) -> Option<String> {
        let plan = self.plan();
        let mut env = plan.env.iter();
        if let Some((name, _)) = env.find(|(name, value)| may_read_more(name, value)) {
            return Some(format!("`{name}` is set"));
        }
        let copied = plan
            .copy
            .iter()
            .map(|name| Path::new(&plan.subdir).join(name));
        let known = installed.iter().map(PathBuf::from).chain(copied);
        let known: Vec<PathBuf> = known.chain([PathBuf::from(target)]).collect();
        match self.commands.lane.changes() {
            None => Some("trees are not shown in layers".to_owned()),
            Some(upper) => match stray(&upper, Path::new(""), &known) {
                Ok(None) => None,
                Ok(Some(path)) => Some(format!("the build changes `{}`", path.display())),
                Err(error) => Some(error.to_string()),
            },
        }
    }

    /// The names of the own packages whose outputs a tree can have from a root.
    pub(super) fn untouched(&self, tree: &TreeId, root: &Root) -> Vec<String> {
        let Some(own) = &root.note.own else {
            return Vec::new();
        };
        let changed = || -> Result<Option<Vec<String>>, Fault> {
            let before = TreeId::parse(&own.tree)?;
            let changes = self.commands.repository.tree_changes(&before, tree)?;
            let paths = changes.into_iter();
            let paths = paths.map(|change| change.path.into_os_string().into_string().ok());
            Ok(paths.collect())
        };
        match changed() {
            Ok(Some(changed)) => {
                let names = own.packages.untouched(&changed);
                names.into_iter().map(str::to_owned).collect()
            }
            // The root may be of a commit that this repository does not have.
            Ok(None) | Err(_) => Vec::new(),
        }
    }

    /// Leaves of the own packages' outputs that are shown only those of the packages that are named.
    pub(super) fn show_only(&self, root: &Root, own: &OwnTier, names: &[String]) -> io::Result<()> {
        moment("before", "own packages are shown");
        leave_only(&root.own(), &self.commands.lane.tree(), &own.target, names)?;
        moment("after", "own packages are shown");
        Ok(())
    }
}

/// The first file that lies elsewhere than in known folders.
fn stray(upper: &Path, folder: &Path, known: &[PathBuf]) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(upper.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if known.contains(&path) {
            continue;
        }
        if !entry.file_type()?.is_dir() {
            return Ok(Some(path));
        }
        let found = stray(upper, &path, known)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// One thing that cargo built of a package.
struct Unit {
    package: String,
    /// The folder of cargo's notes.
    notes: String,
    /// The names of its outputs.
    outputs: Vec<String>,
}

/// Moves the outputs of own packages out of cargo's folders, and learns what they were made of. Says
/// whether there are any.
fn set_aside(
    tree: &Path,
    target: &str,
    packages: &mut OwnPackages,
    files: &dyn TreeFiles,
) -> io::Result<bool> {
    let folders = build_folders(&tree.join(target))?;
    let mut found = Vec::new();
    for folder in &folders {
        let units = units_in(&folder.place, packages)?;
        for unit in &units {
            learn(&folder.place, unit, packages, files);
        }
        found.push((folder.place.clone(), units));
    }
    let manifests: Vec<(String, String)> = packages
        .plain()
        .map(|package| (package.name.clone(), join(&package.folder, "Cargo.toml")))
        .collect();
    for (name, manifest) in manifests {
        if tracked(files, "", &manifest).is_none() {
            packages.note_odd(&name);
        }
    }
    let untouched = packages.untouched(&[]);
    let mut has_any = false;
    for (place, units) in found {
        let to = tree
            .join(OWN)
            .join(place.strip_prefix(tree).map_err(io::Error::other)?);
        let is_kept = |unit: &&Unit| untouched.contains(&unit.package.as_str());
        for unit in units.iter().filter(is_kept) {
            fs::create_dir_all(to.join(NOTES))?;
            fs::create_dir_all(to.join(OUTPUTS))?;
            let notes = Path::new(NOTES).join(&unit.notes);
            fs::rename(place.join(&notes), to.join(&notes))?;
            for output in &unit.outputs {
                let output = Path::new(OUTPUTS).join(output);
                fs::rename(place.join(&output), to.join(&output))?;
            }
            has_any = true;
        }
    }
    Ok(has_any)
}

/// What cargo built of plain packages in a folder, as far as its outputs have the hash in their names.
fn units_in(place: &Path, packages: &OwnPackages) -> io::Result<Vec<Unit>> {
    let mut outputs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(place.join(OUTPUTS))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(hash) = hash_of_output(&name) {
            outputs.entry(hash.to_owned()).or_default().push(name);
        }
    }
    let mut units = Vec::new();
    for (notes, _) in folders_in(&place.join(NOTES))? {
        let Some((package, hash)) = unit_name(&notes) else {
            continue;
        };
        let is_plain = packages.plain().any(|plain| plain.name == package);
        if let Some(outputs) = outputs.get(hash).filter(|_| is_plain) {
            units.push(Unit {
                package: package.to_owned(),
                outputs: outputs.clone(),
                notes,
            });
        }
    }
    Ok(units)
}

/// Learns from what the compiler says which files it read for a unit. Where one of them is no plain file of
/// the commit, git cannot tell whether it is as it was.
fn learn(place: &Path, unit: &Unit, packages: &mut OwnPackages, files: &dyn TreeFiles) {
    let lists = unit.outputs.iter().filter(|name| is_list(name));
    let mut n_read = 0;
    for list in lists {
        let text = fs::read_to_string(place.join(OUTPUTS).join(list)).unwrap_or_default();
        for file in files_read(&text) {
            n_read += 1;
            match tracked(files, packages.top(), &file) {
                Some(path) => packages.note_read(&unit.package, &path),
                None => packages.note_odd(&unit.package),
            }
        }
    }
    if n_read == 0 {
        packages.note_odd(&unit.package);
    }
}

/// Whether an output is the list of files that were read.
fn is_list(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "d")
}

/// The path in the commit of a file as the compiler names it, if it is a plain file there.
fn tracked(files: &dyn TreeFiles, top: &str, file: &str) -> Option<String> {
    let from_top = match Path::new(file).strip_prefix(sandbox::WORKSPACE) {
        Ok(below) => below.to_owned(),
        Err(_) => Path::new(top).join(file),
    };
    let mut path = PathBuf::new();
    for part in from_top.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            // Out of a link it would lead elsewhere.
            Component::ParentDir if !files.list(&path).is_empty() => drop(path.pop()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    match files.entry(&path)?.mode {
        Mode::File | Mode::Executable => path.into_os_string().into_string().ok(),
        Mode::Link | Mode::Submodule => None,
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Takes everything of a layer out of a tree that it lies below, but for the outputs of these packages.
/// Those get a new time: it is for git to say that their sources are as they were.
fn leave_only(layer: &Path, tree: &Path, target: &str, names: &[String]) -> io::Result<()> {
    let now = SystemTime::now();
    for folder in build_folders(&layer.join(target))? {
        let place = folder.place.strip_prefix(layer).map_err(io::Error::other)?;
        let place = tree.join(place);
        let mut left = BTreeSet::new();
        for (notes, kept) in folders_in(&folder.place.join(NOTES))? {
            let seen = place.join(NOTES).join(&notes);
            match unit_name(&notes) {
                Some((package, hash)) if names.iter().any(|name| name == package) => {
                    left.insert(hash.to_owned());
                    freshen(&kept, &seen, now)?;
                }
                Some(_) | None => home::remove_folder(&seen)?,
            }
        }
        for entry in fs::read_dir(folder.place.join(OUTPUTS))? {
            let name = entry?.file_name();
            let text = name.to_string_lossy();
            if !hash_of_output(&text).is_some_and(|hash| left.contains(hash)) {
                fs::remove_file(place.join(OUTPUTS).join(&name))?;
            }
        }
    }
    Ok(())
}

fn freshen(notes: &Path, seen: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(notes)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with(TIMED) {
            set_time(&seen.join(name), now)?;
        }
    }
    Ok(())
}

/// The package and the hash in the name of a folder of notes.
fn unit_name(name: &str) -> Option<(&str, &str)> {
    let (package, hash) = name.rsplit_once('-')?;
    is_hash(hash).then_some((package, hash))
}

/// The hash in the name of an output: `libshop-0123456789abcdef.rlib`.
fn hash_of_output(name: &str) -> Option<&str> {
    let (stem, _) = name.split_once('.').unwrap_or((name, ""));
    let (_, hash) = stem.rsplit_once('-')?;
    is_hash(hash).then_some(hash)
}

fn is_hash(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == HASH_CHARS && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use serde_json::json;
    use workspace::{Entry, Listed, ObjectId};

    use super::super::outputs::each_file;
    use super::*;

    /// Files of a commit; a name that ends with `@` is a link.
    struct Commit(&'static [&'static str]);

    impl TreeFiles for Commit {
        fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
            None
        }

        fn link(&self, _: &Path) -> Option<Vec<u8>> {
            None
        }

        fn entry(&self, path: &Path) -> Option<Entry> {
            let named = |name: &&&str| Path::new(name.trim_end_matches('@')) == path;
            let name = self.0.iter().find(named)?;
            let id = ObjectId::parse(&"0".repeat(40)).expect("an id");
            let mode = if name.ends_with('@') {
                Mode::Link
            } else {
                Mode::File
            };
            Some(Entry { mode, id })
        }

        fn list(&self, folder: &Path) -> Vec<(OsString, Listed)> {
            let below = self.0.iter().filter(|name| {
                let name = Path::new(name);
                name.starts_with(folder) && name != folder
            });
            below.map(|_| (OsString::new(), Listed::Folder)).collect()
        }
    }

    fn write(top: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = top.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
    }

    fn all(top: &Path) -> Vec<String> {
        let mut found = Vec::new();
        each_file(top, &mut |path, metadata| {
            if !metadata.is_dir() {
                let path = path.strip_prefix(top).expect("below");
                found.push(path.to_string_lossy().into_owned());
            }
            Ok(())
        })
        .expect("looked");
        found.sort();
        found
    }

    fn packages(names: &[&str]) -> OwnPackages {
        let package = |name: &&str| {
            json!({ "id": name, "name": name, "source": null, "manifest_path": format!("/workspace/{name}/Cargo.toml"),
                    "targets": [{ "kind": ["lib"], "crate_types": ["lib"] }] })
        };
        let node = |name: &&str| json!({ "id": name, "dependencies": [] });
        let said = json!({
            "workspace_root": "/workspace",
            "packages": names.iter().map(package).collect::<Vec<_>>(),
            "resolve": { "nodes": names.iter().map(node).collect::<Vec<_>>() },
        });
        OwnPackages::read(said.to_string().as_bytes(), "/workspace").expect("packages")
    }

    const COMMIT: Commit = Commit(&[
        "Cargo.toml",
        "a/Cargo.toml",
        "a/src/lib.rs",
        "b/Cargo.toml",
        "b/src/lib.rs",
        "c/Cargo.toml",
        "c/data.txt",
        "c/src/lib.rs",
        "c/src/linked.rs@",
        "d/Cargo.toml@",
        "e/Cargo.toml",
    ]);

    /// What cargo left, and what the compiler says that it read.
    const BUILT: [(&str, &str); 24] = [
        ("target/debug/a", "uplifted"),
        ("target/debug/examples/x-00000000000000a3", ""),
        ("target/debug/incremental/a/x", ""),
        ("target/debug/.fingerprint/a-00000000000000a1/dep-lib-a", ""),
        (
            "target/debug/.fingerprint/a-00000000000000a2/dep-test-it",
            "",
        ),
        (
            "target/debug/.fingerprint/a-00000000000000a3/dep-example-x",
            "",
        ),
        ("target/debug/.fingerprint/b-00000000000000b1/dep-lib-b", ""),
        ("target/debug/.fingerprint/c-00000000000000c1/dep-lib-c", ""),
        ("target/debug/.fingerprint/d-00000000000000d1/dep-lib-d", ""),
        (
            "target/debug/.fingerprint/serde-00000000000000e1/lib-serde",
            "",
        ),
        ("target/debug/deps/liba-00000000000000a1.rlib", ""),
        (
            "target/debug/deps/a-00000000000000a1.d",
            "x: a/src/lib.rs a/src/../../Cargo.toml\n",
        ),
        ("target/debug/deps/it-00000000000000a2", ""),
        (
            "target/debug/deps/it-00000000000000a2.d",
            "x: /workspace/a/src/lib.rs\n",
        ),
        ("target/debug/deps/libb-00000000000000b1.rlib", ""),
        (
            "target/debug/deps/b-00000000000000b1.d",
            "x: b/src/lib.rs b/src/made.rs\n",
        ),
        ("target/debug/deps/libc-00000000000000c1.rlib", ""),
        (
            "target/debug/deps/c-00000000000000c1.d",
            "x: c/src/lib.rs c/src/linked.rs\n",
        ),
        ("target/debug/deps/libd-00000000000000d1.rlib", ""),
        (
            "target/debug/deps/d-00000000000000d1.d",
            "x: a/src/lib.rs\n",
        ),
        ("target/debug/deps/libserde-00000000000000e1.rlib", ""),
        ("target/debug/.fingerprint/e-00000000000000f1/lib-e", ""),
        ("target/debug/deps/libe-00000000000000f1.rlib", ""),
        ("target/debug/deps/plugin.so", ""),
    ];

    #[test]
    fn what_git_can_tell_of_is_set_aside_and_nothing_else() {
        let scratch = tempfile::tempdir().expect("a folder");
        let top = scratch.path();
        write(top, &BUILT);
        let mut own = packages(&["a", "b", "c", "d", "e"]);
        assert!(set_aside(top, "target", &mut own, &COMMIT).expect("set aside"));
        assert_eq!(
            all(&top.join(OWN)),
            [
                "target/debug/.fingerprint/a-00000000000000a1/dep-lib-a",
                "target/debug/.fingerprint/a-00000000000000a2/dep-test-it",
                "target/debug/deps/a-00000000000000a1.d",
                "target/debug/deps/it-00000000000000a2",
                "target/debug/deps/it-00000000000000a2.d",
                "target/debug/deps/liba-00000000000000a1.rlib",
            ]
        );
        assert_eq!(own.untouched(&[]), ["a"]);
    }

    #[test]
    fn a_file_that_was_read_is_a_plain_one_of_the_commit() {
        for (file, expected) in [
            ("a/src/lib.rs", Some("a/src/lib.rs")),
            ("/workspace/a/src/lib.rs", Some("a/src/lib.rs")),
            ("a/src/../../c/data.txt", Some("c/data.txt")),
            ("./c/data.txt", Some("c/data.txt")),
            ("c/src/linked.rs", None),
            ("c/src/linked.rs/../lib.rs", None),
            ("a/src/made.rs", None),
            ("/usr/include/a.h", None),
            ("../../../etc/passwd", None),
            ("a", None),
        ] {
            assert_eq!(tracked(&COMMIT, "", file).as_deref(), expected, "{file}");
        }
        assert_eq!(
            tracked(&COMMIT, "c", "data.txt").as_deref(),
            Some("c/data.txt")
        );
    }

    #[test]
    fn outputs_of_a_touched_package_are_not_there() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (layer, tree) = (scratch.path().join("layer"), scratch.path().join("tree"));
        let files = [
            ("target/debug/.fingerprint/a-00000000000000a1/dep-lib-a", ""),
            ("target/debug/.fingerprint/a-00000000000000a1/lib-a", ""),
            (
                "target/debug/.fingerprint/a-b-00000000000000b1/dep-lib-a_b",
                "",
            ),
            ("target/debug/deps/liba-00000000000000a1.rlib", ""),
            ("target/debug/deps/a-00000000000000a1.1.rcgu.o", ""),
            ("target/debug/deps/liba_b-00000000000000b1.rlib", ""),
            ("target/debug/deps/it-00000000000000b1", ""),
            ("target/debug/deps/odd.so", ""),
        ];
        write(&layer, &files);
        write(&tree, &files);
        write(
            &tree,
            &[("target/debug/deps/libserde-00000000000000e1.rlib", "")],
        );
        let old = SystemTime::now() - Duration::from_hours(1);
        for path in all(&tree) {
            set_time(&tree.join(path), old).expect("set");
        }
        leave_only(&layer, &tree, "target", &["a".to_owned()]).expect("left");
        let left = [
            "target/debug/.fingerprint/a-00000000000000a1/dep-lib-a",
            "target/debug/.fingerprint/a-00000000000000a1/lib-a",
            "target/debug/deps/a-00000000000000a1.1.rcgu.o",
            "target/debug/deps/liba-00000000000000a1.rlib",
            "target/debug/deps/libserde-00000000000000e1.rlib",
        ];
        assert_eq!(all(&tree), left);
        let time = |path: &str| fs::metadata(tree.join(path)).and_then(|found| found.modified());
        assert!(time(left[0]).expect("a time") > old + Duration::from_mins(30));
        // Cargo compares the times of outputs with each other.
        assert!(time(left[3]).expect("a time") < old + Duration::from_secs(1));
    }

    #[test]
    fn a_build_that_changes_sources_is_seen() {
        let scratch = tempfile::tempdir().expect("a folder");
        let known = ["target", "pkg/node_modules"].map(PathBuf::from);
        write(
            scratch.path(),
            &[("target/debug/x", ""), ("pkg/node_modules/y/z.js", "")],
        );
        let find = || stray(scratch.path(), Path::new(""), &known).expect("looked");
        assert_eq!(find(), None);
        write(scratch.path(), &[("pkg/src/lib.rs", "")]);
        assert_eq!(find(), Some(PathBuf::from("pkg/src/lib.rs")));
    }
}
