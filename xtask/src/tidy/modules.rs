//! The rule `modules`: the modules of a crate use each other in one direction, so that each can be
//! read, tested and replaced without the ones above it.
//!
//! A module is a file. What a file offers onward with `pub use` is counted where it is defined, and
//! offering the items of one's own children onward is no use of them: a `mod.rs` that only declares
//! and offers is never part of a cycle. Tests are not looked at. `engine` has no cycle; another
//! crate may have an entry in the list of exceptions that says how many of its modules are in one.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::{Complaint, Rule};
use super::cycles::{Cycle, Graph, cycles};
use super::exceptions::{self, Exception};
use super::tree::{Tree, has_extension};
use super::use_paths::{Import, Mention, Offered, Outline, outline};

/// The crate that may have no exception.
const STRICT: &str = "engine";

/// How many `use` lines one name is followed through.
const REEXPORTS_MAX: usize = 8;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let (exceptions, _) = exceptions::parse(tree.text(exceptions::LIST));
    let exceptions = exceptions
        .iter()
        .filter(|entry| entry.rule == Rule::Modules);
    let exceptions: Vec<&Exception> = exceptions.collect();
    let mut counts = BTreeMap::new();
    let mut complaints = Vec::new();
    for (name, roots) in crates(tree) {
        let (count, found) = check_crate(tree, &roots);
        counts.insert(name, count);
        if count > allowed(&exceptions, name) {
            complaints.extend(found);
        }
    }
    complaints.extend(exceptions.iter().filter_map(|exception| {
        if exception.path == STRICT {
            let message = format!("`{STRICT}` may have no cycle: remove the entry");
            let line_number = exception.line_number;
            return Some(Complaint::new(
                Rule::Modules,
                exceptions::LIST,
                line_number,
                message,
            ));
        }
        let count = counts.get(exception.path.as_str()).copied();
        exceptions::ratchet(exception, count, 0)
    }));
    complaints
}

fn allowed(exceptions: &[&Exception], name: &str) -> usize {
    let entries = exceptions.iter().filter(|exception| exception.path == name);
    let allowed = entries.map(|exception| exception.allowed).max();
    allowed.filter(|_| name != STRICT).unwrap_or_default()
}

/// The roots of every crate: its library and its programs. The folder has the crate's name.
fn crates(tree: &Tree) -> BTreeMap<&str, Vec<&str>> {
    let mut crates: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in tree.paths() {
        let parts: Vec<&str> = path.split('/').collect();
        let root = match parts[..] {
            ["crates", name, "src", "lib.rs" | "main.rs"] | [name, "src", "lib.rs" | "main.rs"] => {
                Some(name)
            }
            ["crates", name, "src", "bin", file] if has_extension(file, "rs") => Some(name),
            _ => None,
        };
        if let Some(name) = root {
            crates.entry(name).or_default().push(path);
        }
    }
    crates
}

/// Tells how many modules of a crate are in a cycle, with a complaint about each cycle.
fn check_crate(tree: &Tree, roots: &[&str]) -> (usize, Vec<Complaint>) {
    let mut count = 0;
    let mut complaints = Vec::new();
    for root in roots {
        let modules = Modules::load(tree, root);
        let edges = modules.edges();
        let mut graph = Graph::new();
        for (from, to) in edges.keys() {
            graph.entry(*from).or_default().insert(*to);
        }
        for cycle in cycles(&graph) {
            count += cycle.nodes.len();
            complaints.push(modules.complaint(&cycle, &edges));
        }
    }
    (count, complaints)
}

/// Where one file first uses another, by the indexes of both.
type Edges = BTreeMap<(usize, usize), usize>;

/// The path of a module from the root of its crate.
type ModulePath<'a> = Vec<&'a str>;

struct File<'a> {
    /// From the workspace.
    path: String,
    module: ModulePath<'a>,
    outline: Outline<'a>,
}

/// The files of one library or program.
struct Modules<'a> {
    root: &'a str,
    files: Vec<File<'a>>,
    /// The file of each module; an inline module has the file that it stands in.
    places: BTreeMap<ModulePath<'a>, usize>,
}

impl<'a> Modules<'a> {
    /// Follows the `mod` lines. A file that none leads to is not part of the crate, or only of its
    /// tests.
    fn load(tree: &'a Tree, root: &'a str) -> Self {
        let mut modules = Self {
            root,
            files: Vec::new(),
            places: BTreeMap::new(),
        };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.add(tree, root.to_owned(), folder, &[]);
        modules
    }

    /// `folder` is where the files of the children lie.
    fn add(&mut self, tree: &'a Tree, path: String, folder: &str, module: &[&'a str]) {
        let index = self.files.len();
        let outline = outline(tree.text(&path));
        let children = outline.modules.clone();
        self.places.insert(module.to_vec(), index);
        self.files.push(File {
            path,
            module: module.to_vec(),
            outline,
        });
        for child in children {
            let below = format!("{folder}/{}", child.join("/"));
            let candidates = [format!("{below}.rs"), format!("{below}/mod.rs")];
            let file = candidates
                .into_iter()
                .find(|path| !tree.text(path).is_empty());
            let child = [module, &child].concat();
            match file {
                Some(path) => self.add(tree, path, &below, &child),
                None => drop(self.places.insert(child, index)),
            }
        }
    }

    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, file) in self.files.iter().enumerate() {
            let imports = file.outline.imports.iter();
            let imported = imports.flat_map(|import| {
                let targets = self.resolve(from, &import.mention);
                let mention = &import.mention;
                let used = targets
                    .into_iter()
                    .filter(|to| !self.is_offer(from, import, *to));
                used.map(move |to| (mention, to))
            });
            let mentioned = file.outline.mentions.iter();
            let mentioned = mentioned.flat_map(|mention| {
                self.resolve(from, mention)
                    .into_iter()
                    .map(move |to| (mention, to))
            });
            for (mention, to) in imported.chain(mentioned).filter(|(_, to)| *to != from) {
                let line_number = edges.entry((from, to)).or_insert(mention.line_number);
                *line_number = mention.line_number.min(*line_number);
            }
        }
        edges
    }

    /// Tells whether a file only hands on what belongs to one of its own children.
    fn is_offer(&self, from: usize, import: &Import<'_>, to: usize) -> bool {
        let is_child = self.files[to].module.starts_with(&self.files[from].module);
        import.offered == Offered::Onward && is_child
    }

    /// Finds the files that hold what a path leads to; none when it leads out of the crate or to
    /// something that is not told by its name. Two files can be meant where two systems have one
    /// each.
    fn resolve(&self, from: usize, mention: &Mention<'a>) -> BTreeSet<usize> {
        let module = [&self.files[from].module[..], &mention.within].concat();
        self.resolve_from(module, &mention.path, REEXPORTS_MAX)
    }

    fn resolve_from(
        &self,
        mut module: ModulePath<'a>,
        path: &[&'a str],
        left: usize,
    ) -> BTreeSet<usize> {
        let mut rest = path;
        while let Some((&start @ ("crate" | "self" | "super"), after)) = rest.split_first() {
            match start {
                "crate" => module.clear(),
                "super" => drop(module.pop()),
                _ => {}
            }
            rest = after;
        }
        let is_rooted = rest.len() < path.len();
        let is_known = rest.first().is_some_and(|name| {
            let is_module = rest.len() > 1 && self.places.contains_key(&joined(&module, name));
            is_module || self.imports_of(&module, name).next().is_some()
        });
        if is_rooted || is_known {
            self.descend(module, rest, left)
        } else {
            BTreeSet::new()
        }
    }

    fn descend(
        &self,
        mut module: ModulePath<'a>,
        path: &[&'a str],
        left: usize,
    ) -> BTreeSet<usize> {
        let mut rest = path;
        while let Some((name, after)) = rest.split_first() {
            let below = joined(&module, name);
            if !self.places.contains_key(&below) {
                return self.item(&module, name, after, left);
            }
            module = below;
            rest = after;
        }
        self.places.get(&module).copied().into_iter().collect()
    }

    /// Finds where an item of a module is defined: in its file, or where a `use` line has it from.
    fn item(
        &self,
        module: &ModulePath<'a>,
        name: &str,
        after: &[&'a str],
        left: usize,
    ) -> BTreeSet<usize> {
        let own = self.places.get(module).copied();
        let imports: Vec<_> = self.imports_of(module, name).collect();
        if left == 0 || name == "*" {
            return own.into_iter().collect();
        }
        if !imports.is_empty() {
            let followed = imports.iter().flat_map(|import| {
                let path = [&import.mention.path[..], after].concat();
                self.resolve_from(module.clone(), &path, left - 1)
            });
            return followed.collect();
        }
        let globs = self.imports_of(module, "*");
        let from_globs = globs
            .flat_map(|glob| self.resolve_from(module.clone(), &glob.mention.path, left - 1))
            .filter(|file| self.files[*file].outline.items.contains(name));
        from_globs.chain(own).take(1).collect()
    }

    fn imports_of(&self, module: &ModulePath<'a>, name: &str) -> impl Iterator<Item = &Import<'a>> {
        let file = self.places.get(module).map(|index| &self.files[*index]);
        let within = file.map(|file| module[file.module.len()..].to_vec());
        let imports = file.into_iter().flat_map(|file| &file.outline.imports);
        imports.filter(move |import| {
            import.name == name && Some(&import.mention.within) == within.as_ref()
        })
    }

    fn complaint(&self, cycle: &Cycle, edges: &Edges) -> Complaint {
        let way = [&cycle.shortest[..], &cycle.shortest[..1]].concat();
        let names: Vec<&str> = way.iter().map(|index| self.name(*index)).collect();
        let message = format!(
            "{} modules use each other in a cycle, shortest way round: {}",
            cycle.nodes.len(),
            names.join(" → ")
        );
        let line_number = edges.get(&(way[0], way[1])).copied().unwrap_or(1);
        Complaint::new(
            Rule::Modules,
            &self.files[way[0]].path,
            line_number,
            message,
        )
    }

    /// The path of a file below the folder of the root.
    fn name(&self, index: usize) -> &str {
        let folder = self.root.rfind('/').map_or(0, |slash| slash + 1);
        &self.files[index].path[folder..]
    }
}

fn joined<'a>(module: &[&'a str], name: &'a str) -> ModulePath<'a> {
    [module, &[name]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn files_use_each_other_in() {
        for (files, expected) in [
            ("a use crate::b::B; | b struct B;", ""),
            (
                "a use crate::b::B; | b use super::a::A;",
                "a.rs → b.rs → a.rs",
            ),
            (
                "a fn f() { crate::b::g() } | b fn g(_: super::a::A) {}",
                "a.rs → b.rs → a.rs",
            ),
            (
                "a use crate::b; | b use crate::{a::A};",
                "a.rs → b.rs → a.rs",
            ),
            (
                "a use crate::b::B; | b use crate::c::C; | c use crate::a::A;",
                "a.rs → b.rs → c.rs → a.rs",
            ),
            (
                "a/mod mod c; | a/c use super::super::b::{self, B}; | b use crate::a::c::C;",
                "a/c.rs → b.rs → a/c.rs",
            ),
            // An inline module belongs to its file.
            (
                "a mod i { use super::super::b::B; } | b use crate::a::i::I;",
                "a.rs → b.rs → a.rs",
            ),
            // Neither comments nor tests are looked at.
            (
                "a // crate::b::B\n#[cfg(test)] mod tests { use crate::b::B; } | b use crate::a::A;",
                "",
            ),
            // Another crate may have the name of a module that lies elsewhere.
            ("a use b::B; fn f() { b::g() } | b use crate::a::A;", ""),
        ] {
            check_cycle("mod a; mod b; mod c;", files, expected);
        }
    }

    #[test]
    fn what_is_offered_onward_counts_where_it_is_defined() {
        let a = "a/mod mod c; mod d; pub use c::C; pub use self::d::D as E; | a/c use crate::b::B;";
        let globs = "a mod c; mod d; pub use c::*; pub use d::*; | a/c use crate::b::B; struct C; | a/d struct D;";
        for (files, expected) in [
            (
                format!("{a} | a/d struct D; | b use crate::a::C;"),
                "a/c.rs → b.rs → a/c.rs",
            ),
            (format!("{a} | a/d struct D; | b use crate::a::E;"), ""),
            (
                format!("{a} | a/d struct D; | b use crate::a; fn f(c: a::C) {{}}"),
                "a/c.rs → b.rs → a/c.rs",
            ),
            (
                format!("{globs} | b use crate::a::C;"),
                "a/c.rs → b.rs → a/c.rs",
            ),
            (format!("{globs} | b use crate::a::D;"), ""),
            // A file that offers what belongs to another one uses it.
            (
                "a pub use crate::b::B; | b use crate::a::A;".to_owned(),
                "a.rs → b.rs → a.rs",
            ),
        ] {
            check_cycle("mod a; mod b;", &files, expected);
        }
    }

    #[test]
    fn a_child_may_use_its_parent_unless() {
        for (parent, expected) in [
            ("mod a; pub struct B;", ""),
            ("mod a; pub use a::A; pub struct B;", ""),
            (
                "mod a; pub use a::A; pub struct B(A);",
                "lib.rs → a.rs → lib.rs",
            ),
            ("mod a; use a::A; pub struct B;", "lib.rs → a.rs → lib.rs"),
            (
                "mod a; fn f() { a::g() } pub struct B;",
                "lib.rs → a.rs → lib.rs",
            ),
        ] {
            check_cycle(parent, "a use crate::B;", expected);
        }
    }

    /// Each file is told as its name without the ending, a space and its text.
    fn check_cycle(root: &str, files: &str, expected: &str) {
        let others = files.split(" | ").filter_map(|file| file.split_once(' '));
        let all: Vec<(String, &str)> = std::iter::once(("lib", root))
            .chain(others)
            .map(|(name, text)| (format!("crates/x/src/{name}.rs"), text))
            .collect();
        let all: Vec<(&str, &str)> = all
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let seen: Vec<String> = check(&Tree::of(&all))
            .into_iter()
            .filter_map(|complaint| Some(complaint.message.split_once("round: ")?.1.to_owned()))
            .collect();
        assert_eq!(seen.join(", "), expected, "{root} | {files}");
    }

    #[test]
    fn a_crate_may_have_in_cycles() {
        let cycle = |name: &str| {
            Some(format!(
                "crates/{name}/src/a.rs:2: 2 modules use each other in a cycle, shortest way round: \
                 a.rs → b.rs → a.rs (modules)"
            ))
        };
        let entry = |message: &str| Some(format!("{}:1: {message} (modules)", exceptions::LIST));
        for (name, exception, expected) in [
            ("cli", "", vec![cycle("cli")]),
            ("cli", "module-cycle cli 2", vec![]),
            ("cli", "module-cycle cli 1", vec![cycle("cli")]),
            (
                "cli",
                "module-cycle cli 3",
                vec![entry("`cli` has 2 where 3 are allowed: shrink it to 2")],
            ),
            ("engine", "", vec![cycle("engine")]),
            (
                "engine",
                "module-cycle engine 2",
                vec![
                    cycle("engine"),
                    entry("`engine` may have no cycle: remove the entry"),
                ],
            ),
        ] {
            let file = |path: &str| format!("crates/{name}/src/{path}");
            let seen = check(&Tree::of(&[
                (&file("main.rs"), "mod a;\nmod b;"),
                (&file("a.rs"), "\nuse crate::b::B;"),
                (&file("b.rs"), "use crate::a::A;"),
                (exceptions::LIST, exception),
            ]));
            let expected: Vec<String> = expected.into_iter().flatten().collect();
            assert_eq!(shown(&seen), expected, "{name}, {exception:?}");
        }
    }
}
