//! The rule `edges`: which crate of ours may use which. The table is the architecture, so a row
//! changes only together with a page in `docs/decisions`.
//!
//! An edge that follows from two others is still an edge: a crate that is used is named.

use super::complaint::{Complaint, Rule};
use super::toml_lines::entries;
use super::tree::Tree;
use crate::metadata::{Dependency, Kind, Origin, Package};

/// What a crate may use.
enum Allowed {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

use Allowed::{AllBut, Only};

/// Everything that only tests and developers need stays out of the product. The faces, `cli` and
/// `web`, cannot name the engine: they read views and write requests, and only the binary wires both
/// sides.
const TABLE: [(&str, Allowed); 20] = [
    ("prd", Only(&[])),
    ("kernel", Only(&["prd"])),
    ("roles", Only(&["kernel", "prd"])),
    ("checks", Only(&["kernel", "prd"])),
    ("views", Only(&["kernel", "prd"])),
    ("journal", Only(&["kernel", "prd"])),
    ("workspace", Only(&[])),
    ("sandbox", Only(&[])),
    ("agents", Only(&["sandbox"])),
    ("acp", Only(&[])),
    (
        "home",
        Only(&["agents", "journal", "kernel", "prd", "workspace"]),
    ),
    (
        "tasks",
        Only(&["home", "journal", "kernel", "prd", "sandbox", "workspace"]),
    ),
    ("publish", Only(&["views"])),
    (
        "engine",
        Only(&[
            "prd",
            "kernel",
            "roles",
            "checks",
            "views",
            "journal",
            "workspace",
            "sandbox",
            "agents",
            "home",
            "tasks",
            "publish",
        ]),
    ),
    ("web", Only(&["views", "journal", "home"])),
    (
        "cli",
        Only(&[
            "prd",
            "kernel",
            "roles",
            "checks",
            "views",
            "journal",
            "workspace",
            "sandbox",
            "agents",
            "home",
            "tasks",
            "publish",
        ]),
    ),
    ("loopwright", AllBut(&["testkit", "xtask", "bench"])),
    ("testkit", AllBut(&["cli", "loopwright", "xtask", "bench"])),
    ("xtask", Only(&[])),
    ("bench", AllBut(&["xtask"])),
];

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Complaint> {
    packages
        .iter()
        .flat_map(|package| check_package(tree.text(&package.manifest), package))
        .collect()
}

fn check_package(manifest: &str, package: &Package) -> Vec<Complaint> {
    let complaint =
        |line_number, message| Complaint::new(Rule::Edges, &package.manifest, line_number, message);
    let Some((_, allowed)) = TABLE.iter().find(|(name, _)| *name == package.name) else {
        let message = format!(
            "`{}` is new: a new crate needs a page in docs/decisions and a row here",
            package.name
        );
        return vec![complaint(1, message)];
    };
    let ours = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.origin == Origin::Workspace);
    let refused = ours.filter(|dependency| !is_allowed(allowed, dependency));
    let message =
        |dependency: &Dependency| format!("`{}` must not use `{}`", package.name, dependency.name);
    refused
        .map(|dependency| complaint(line_of(manifest, &dependency.name), message(dependency)))
        .collect()
}

/// Tests may use the test kit, whatever they test; otherwise they are bound like the crate itself.
fn is_allowed(allowed: &Allowed, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    let by_table = match allowed {
        Only(names) => names.contains(&name),
        AllBut(names) => !names.contains(&name),
    };
    by_table || (dependency.kind == Kind::Dev && name == "testkit")
}

/// Finds where a manifest names a dependency; the first line when it names it in a way we do not
/// read.
pub(super) fn line_of(manifest: &str, dependency: &str) -> usize {
    let entries = entries(manifest);
    let named = entries.iter().find(|entry| {
        let starts_key = entry.key.split('.').next() == Some(dependency);
        let ends_table = entry.table.rsplit('.').next() == Some(dependency);
        entry.table.contains("dependencies") && (starts_key || ends_table)
    });
    named.map_or(1, |entry| entry.line_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn an_edge_is_refused_unless_the_table_has_it() {
        for (name, dependency, kind, is_allowed) in [
            ("kernel", "prd", Kind::Normal, true),
            ("journal", "prd", Kind::Normal, true),
            ("kernel", "journal", Kind::Normal, false),
            ("publish", "views", Kind::Build, true),
            ("publish", "sandbox", Kind::Build, false),
            ("prd", "testkit", Kind::Dev, true),
            ("prd", "testkit", Kind::Normal, false),
            ("prd", "kernel", Kind::Dev, false),
            ("home", "journal", Kind::Normal, true),
            ("home", "engine", Kind::Normal, false),
            ("engine", "home", Kind::Normal, true),
            ("web", "home", Kind::Normal, true),
            ("web", "kernel", Kind::Normal, false),
            ("web", "engine", Kind::Normal, false),
            ("cli", "home", Kind::Normal, true),
            ("cli", "engine", Kind::Normal, false),
            ("cli", "engine", Kind::Dev, false),
            ("cli", "acp", Kind::Normal, false),
            ("cli", "loopwright", Kind::Normal, false),
            ("loopwright", "cli", Kind::Normal, true),
            ("loopwright", "engine", Kind::Normal, true),
            ("loopwright", "testkit", Kind::Dev, true),
            ("loopwright", "testkit", Kind::Normal, false),
            ("testkit", "engine", Kind::Normal, true),
            ("testkit", "cli", Kind::Normal, false),
            ("testkit", "loopwright", Kind::Normal, false),
            ("xtask", "prd", Kind::Normal, false),
            ("bench", "loopwright", Kind::Normal, true),
        ] {
            let refusal = format!("m/Cargo.toml:2: `{name}` must not use `{dependency}` (edges)");
            let expected = (!is_allowed).then_some(refusal);
            let seen = check_one(name, dependency, kind, Origin::Workspace);
            assert_eq!(
                seen,
                Vec::from_iter(expected),
                "{name} to {dependency}, {kind:?}"
            );
        }
    }

    #[test]
    fn crates_of_others_are_no_edges() {
        assert_eq!(
            check_one("prd", "journal", Kind::Normal, Origin::Outside),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_unknown_crate_is_refused() {
        let expected = "m/Cargo.toml:1: `helpers` is new: a new crate needs a page in docs/decisions and a row here \
                        (edges)";
        assert_eq!(
            check_one("helpers", "prd", Kind::Normal, Origin::Workspace),
            [expected]
        );
    }

    fn check_one(name: &str, dependency: &str, kind: Kind, origin: Origin) -> Vec<String> {
        let manifest = format!("[dependencies]\n{dependency}.workspace = true\n");
        let dependencies = vec![Dependency {
            name: dependency.to_owned(),
            kind,
            origin,
        }];
        let package = Package {
            name: name.to_owned(),
            manifest: "m/Cargo.toml".to_owned(),
            dependencies,
        };
        shown(&check(
            &Tree::of(&[("m/Cargo.toml", &manifest)]),
            &[package],
        ))
    }

    #[test]
    fn a_dependency_is_found_on_line() {
        for (manifest, expected) in [
            (
                "[package]\nname = \"prd\"\n[dependencies]\nprd.workspace = true\n",
                4,
            ),
            (
                "[dependencies]\ntools.prd = true\nprd = { workspace = true }\n",
                3,
            ),
            ("[dependencies.prd]\nworkspace = true\n", 2),
            ("[package]\nname = \"prd\"\n", 1),
        ] {
            assert_eq!(line_of(manifest, "prd"), expected, "{manifest}");
        }
    }
}
