//! Which of the project's own packages nothing has touched since they were built.
//!
//! Cargo itself would believe the times of files, and knows nothing of what a macro or a build script
//! read. So it is asked only what packages there are and what they are built from. Whether one is as it
//! was is told by git's difference between two trees, and wherever that cannot tell, it is not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Folders of a package in which cargo looks for its targets. What else lies in a package may also be meant
/// for packages below it: settings of tools, attributes of git.
const OF_TARGETS: [&str; 4] = ["src", "tests", "benches", "examples"];

/// Kinds of targets that are built from what the compiler reads, into files that have a hash in their name.
const PLAIN_KINDS: [&str; 6] = ["lib", "rlib", "bin", "test", "bench", "example"];

/// Where packages are published that never change.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Macros that look at what they are given, and perhaps at the manifest of the package that uses them.
/// Any other one may read what it likes, and nobody is told. The sources of their newest versions of
/// November 2026 open no file and ask for variables of the environment at most.
const KEEP_TO_THEMSELVES: [&str; 62] = [
    "actix-macros",
    "actix-web-codegen",
    "async-attributes",
    "async-recursion",
    "async-stream-impl",
    "async-trait",
    "auto_impl",
    "axum-macros",
    "bytemuck_derive",
    "clap_derive",
    "const_format_proc_macros",
    "ctor",
    "ctor-proc-macro",
    "curve25519-dalek-derive",
    "darling_macro",
    "derivative",
    "derive_arbitrary",
    "derive_builder_macro",
    "derive_more",
    "derive_more-impl",
    "diesel_derives",
    "displaydoc",
    "educe",
    "enum-as-inner",
    "enum_dispatch",
    "futures-macro",
    "getset",
    "indoc",
    "miette-derive",
    "mockall_derive",
    "monostate-impl",
    "num-derive",
    "num_enum_derive",
    "openssl-macros",
    "paste",
    "pin-project-internal",
    "proc-macro-error-attr",
    "proc-macro-error-attr2",
    "proptest-derive",
    "prost-derive",
    "ref-cast-impl",
    "schemars_derive",
    "serde_derive",
    "serde_repr",
    "serde_with_macros",
    "serial_test_derive",
    "smart-default",
    "snafu-derive",
    "strum_macros",
    "synstructure",
    "test-case-macros",
    "thiserror-impl",
    "time-macros",
    "tokio-macros",
    "tracing-attributes",
    "typed-builder-macro",
    "typetag-impl",
    "windows-implement",
    "windows-interface",
    "yoke-derive",
    "zerocopy-derive",
    "zerofrom-derive",
];

/// One package whose manifest lies in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPackage {
    /// Its name, by which cargo calls the folders of its outputs.
    pub name: String,
    /// Its folder, from the repository's top.
    pub folder: String,
    /// The own packages that it is built from, for tests and build scripts too, and those of which the
    /// compiler read a file for it.
    pub needs: BTreeSet<usize>,
    /// Whether its outputs depend on nothing but what can be seen.
    pub is_plain: bool,
}

/// The project's own packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPackages {
    /// The folder of the workspace, from the repository's top.
    top: String,
    packages: Vec<OwnPackage>,
}

impl OwnPackages {
    /// Reads what `cargo metadata` says of packages below a folder. None where it cannot be understood.
    pub fn read(metadata: &[u8], tree: &str) -> Option<Self> {
        let said: Value = serde_json::from_slice(metadata).ok()?;
        let top = below(said["workspace_root"].as_str()?, tree)?.to_owned();
        let graph = Graph::of(&said)?;
        let mut own: Vec<(&str, OwnPackage)> = Vec::new();
        for (id, package) in &graph.packages {
            let manifest = package["manifest_path"].as_str()?;
            let Some(manifest) = below(manifest, tree) else {
                continue;
            };
            let folder = manifest.strip_suffix("Cargo.toml")?.trim_end_matches('/');
            let package = OwnPackage {
                name: package["name"].as_str()?.to_owned(),
                folder: folder.to_owned(),
                needs: BTreeSet::new(),
                is_plain: false,
            };
            own.push((*id, package));
        }
        let ids: Vec<&str> = own.iter().map(|(id, _)| *id).collect();
        for (id, package) in &mut own {
            package.is_plain = graph.is_plain(id);
            let reached = graph.reached(id, &|id| ids.contains(&id));
            let needs = ids.iter().enumerate();
            let needs = needs.filter(|(_, other)| *other != id && reached.contains(*other));
            package.needs = needs.map(|(index, _)| index).collect();
        }
        Some(Self {
            top,
            packages: own.into_iter().map(|(_, package)| package).collect(),
        })
    }

    /// How many there are.
    pub fn n_packages(&self) -> usize {
        self.packages.len()
    }

    /// The folder of the workspace, from the repository's top.
    pub fn top(&self) -> &str {
        &self.top
    }

    /// The packages whose outputs can be kept.
    pub fn plain(&self) -> impl Iterator<Item = &OwnPackage> {
        self.packages.iter().filter(|package| package.is_plain)
    }

    /// Notes that the compiler read a file for a package. What lies in another package makes it one of
    /// those that it needs, whole: a new file beside the one that was read may be read the next time.
    pub fn note_read(&mut self, name: &str, path: &str) {
        let owner = self.deepest(path);
        let reads = self.packages.iter_mut().enumerate();
        for (index, package) in reads.filter(|(_, package)| package.name == name) {
            package.needs.extend(owner.filter(|owner| *owner != index));
        }
    }

    /// Notes that the outputs of a package depend on something that cannot be seen.
    pub fn note_odd(&mut self, name: &str) {
        let named = self.packages.iter_mut();
        for package in named.filter(|package| package.name == name) {
            package.is_plain = false;
        }
    }

    /// The names of the packages that are as they were, where these files differ: the outputs of no other
    /// one may be reused.
    pub fn untouched(&self, changed: &[String]) -> Vec<&str> {
        let all = 0..self.packages.len();
        let mut touched: BTreeSet<usize> = all
            .clone()
            .filter(|index| !self.packages[*index].is_plain)
            .collect();
        for path in changed {
            match self.touched_by(path) {
                Some(packages) => touched.extend(packages),
                None => return Vec::new(),
            }
        }
        // What is built from something that is built anew is built anew too.
        loop {
            let n_before = touched.len();
            for index in all.clone() {
                if !self.packages[index].needs.is_disjoint(&touched) {
                    touched.insert(index);
                }
            }
            if touched.len() == n_before {
                break;
            }
        }
        let untouched = all.filter(|index| !touched.contains(index));
        untouched
            .map(|index| self.packages[index].name.as_str())
            .collect()
    }

    /// The packages that a changed file touches; none where it may touch every one.
    fn touched_by(&self, path: &str) -> Option<Vec<usize>> {
        let deepest = self.deepest(path)?;
        let folder = &self.packages[deepest].folder;
        let within = inside(folder, path)?;
        let is_of_target = OF_TARGETS
            .iter()
            .any(|name| within.starts_with(&format!("{name}/")));
        if !is_of_target && *folder == self.top {
            return None;
        }
        let is_touched = |package: &OwnPackage| {
            let is_below = inside(folder, &package.folder).is_some();
            inside(&package.folder, path).is_some() || (!is_of_target && is_below)
        };
        let packages = self.packages.iter().enumerate();
        let touched = packages.filter(|(_, package)| is_touched(package));
        Some(touched.map(|(index, _)| index).collect())
    }

    /// The innermost package in whose folder a file lies.
    fn deepest(&self, path: &str) -> Option<usize> {
        let packages = self.packages.iter().enumerate();
        let around = packages.filter(|(_, package)| inside(&package.folder, path).is_some());
        let deepest = around.max_by_key(|(_, package)| package.folder.len());
        deepest.map(|(index, _)| index)
    }
}

/// What a path is called in a folder; none where it lies elsewhere.
fn inside<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The same for a folder itself, which is called nothing.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

/// All packages, and what each of them depends on.
struct Graph<'a> {
    packages: BTreeMap<&'a str, &'a Value>,
    edges: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn of(said: &'a Value) -> Option<Self> {
        let mut packages = BTreeMap::new();
        for package in said["packages"].as_array()? {
            packages.insert(package["id"].as_str()?, package);
        }
        let mut edges = BTreeMap::new();
        for node in said["resolve"]["nodes"].as_array()? {
            let ids = node["dependencies"].as_array()?.iter();
            let ids: Option<Vec<&str>> = ids.map(Value::as_str).collect();
            edges.insert(node["id"].as_str()?, ids?);
        }
        Some(Self { packages, edges })
    }

    /// Everything that a package depends on. Of what `is_last` says, nothing further is followed.
    fn reached(&self, from: &str, is_last: &dyn Fn(&str) -> bool) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut left: Vec<&str> = self
            .edges
            .get(from)
            .into_iter()
            .flatten()
            .copied()
            .collect();
        while let Some(id) = left.pop() {
            if found.insert(id) && !is_last(id) {
                left.extend(self.edges.get(id).into_iter().flatten());
            }
        }
        found
    }

    /// Whether the outputs of an own package are made by the compiler alone, of what it says that it read.
    fn is_plain(&self, id: &str) -> bool {
        let Some(package) = self.packages.get(id) else {
            return false;
        };
        let name = package["name"].as_str().unwrap_or_default();
        // Cargo's folders have names, not ids.
        let alike = self.packages.values();
        let n_alike = alike.filter(|other| other["name"].as_str() == Some(name));
        let reached = self.reached(id, &|_| false);
        self.edges.contains_key(id)
            && n_alike.count() == 1
            && kinds(package).all(|kind| PLAIN_KINDS.contains(&kind))
            && reached.iter().all(|other| self.is_quiet(other))
    }

    /// Whether a package brings no macro into those that depend on it, or one that is known.
    fn is_quiet(&self, id: &str) -> bool {
        let Some(package) = self.packages.get(id) else {
            return false;
        };
        let is_known = || {
            let name = package["name"].as_str().unwrap_or_default();
            package["source"].as_str() == Some(REGISTRY) && KEEP_TO_THEMSELVES.contains(&name)
        };
        let is_macro = kinds(package).any(|kind| kind == "proc-macro");
        !is_macro || is_known()
    }
}

/// The kinds of a package's targets, and what they become.
fn kinds(package: &Value) -> impl Iterator<Item = &str> {
    let targets = package["targets"].as_array().into_iter().flatten();
    let lists = targets.flat_map(|target| [&target["kind"], &target["crate_types"]]);
    let words = lists.filter_map(Value::as_array).flatten();
    words.map(|word| word.as_str().unwrap_or_default())
}

/// The files that the compiler says it read, from a file of the form that make understands.
pub fn files_read(dep_info: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for line in dep_info.lines().filter(|line| !line.starts_with('#')) {
        // A file that was read stands alone in a line of its own too, but a name may hold a colon.
        let Some((_, list)) = line.split_once(": ") else {
            continue;
        };
        let mut name = String::new();
        let mut letters = list.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek() == Some(&' ') => name.extend(letters.next()),
                ' ' => drop(found.insert(std::mem::take(&mut name))),
                other => name.push(other),
            }
        }
        found.insert(name);
    }
    found.remove("");
    found.into_iter().collect()
}

/// Whether a variable may make the compiler read a file of which it says nothing.
pub fn may_read_more(name: &str, value: &str) -> bool {
    if name.contains("RUSTC") || name.contains("LINKER") {
        return true;
    }
    let is_harmless = |word: &str| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
        ["-D", "-W", "-A", "-C", "--cfg", "-Dwarnings"].contains(&word)
            || word.strip_prefix("target-cpu=").is_some()
            || word.chars().all(is_word)
    };
    name.contains("RUSTFLAGS") && !value.split_whitespace().all(is_harmless)
}

#[cfg(test)]
mod tests;
