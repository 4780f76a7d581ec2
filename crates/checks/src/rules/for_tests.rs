//! Files that their own place says are not the product's: copies of others' code, modules that are only
//! compiled for tests, and crates that only tests depend on.

use toml::{Table, Value};

use crate::text::extension;
use crate::tree::Tree;

/// Folders of code that somebody else wrote and that is tracked all the same.
const OF_OTHERS: [&str; 9] = [
    "node_modules",
    "bower_components",
    "site-packages",
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "venv",
    ".venv",
];

/// Modules above a file that are looked at.
const DEPTH_MAX: usize = 8;

/// Whether a file is a copy of others' code. A story that changes one changes what its own code and its
/// tests stand on.
pub(super) fn is_of_others(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| OF_OTHERS.contains(&folder))
}

/// Whether a Rust source is compiled for tests alone: it, or a module above it, is declared for them, or
/// only tests depend on its crate.
pub(super) fn is_rust_for_tests(path: &str, files: &[String], base: &dyn Tree) -> bool {
    extension(path) == "rs" && (is_gated(path, base, DEPTH_MAX) || is_dev_crate(path, files, base))
}

fn is_gated(path: &str, base: &dyn Tree, depth: usize) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".rs");
    let (above, module) = match stem {
        "mod" => folder.rsplit_once('/').unwrap_or(("", folder)),
        _ => (folder, stem),
    };
    let beside = ["lib.rs", "main.rs", "mod.rs"].map(|name| format!("{above}/{name}"));
    let declarers = beside.into_iter().chain([format!("{above}.rs")]);
    declarers
        .filter_map(|declarer| Some((base.read(&declarer)?, declarer)))
        .any(|(text, declarer)| match declared_for_tests(&text, module) {
            Some(true) => true,
            Some(false) => depth > 0 && is_gated(&declarer, base, depth - 1),
            None => false,
        })
}

/// Whether a text declares a module for tests; `None` if it declares none of this name.
fn declared_for_tests(text: &str, module: &str) -> Option<bool> {
    let words = format!("mod {module};");
    let at = text.find(&words)?;
    let before = &text[..at];
    let start = before.rfind([';', '}', '{']).map_or(0, |end| end + 1);
    let attributes: String = before[start..].split_whitespace().collect();
    Some(attributes.contains("#[cfg(test)]") || attributes.contains("#[cfg(all(test,"))
}

/// Whether the crate of a file is one that others use in their tests and nowhere else.
fn is_dev_crate(path: &str, files: &[String], base: &dyn Tree) -> bool {
    let manifest = |folder: &str| {
        let path = format!("{folder}/Cargo.toml");
        base.read(path.trim_start_matches('/'))
    };
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let Some((folder, text)) = folders
        .rev()
        .find_map(|folder| Some((folder, manifest(folder)?)))
    else {
        return false;
    };
    let Some(name) = text.parse::<Table>().ok().and_then(|manifest| {
        let name = manifest.get("package")?.get("name")?.as_str()?;
        Some(name.to_owned())
    }) else {
        return false;
    };
    if base.has(&format!("{folder}/src/main.rs")) {
        return false;
    }
    let manifests = files.iter().filter(|path| path.ends_with("Cargo.toml"));
    let manifests = manifests.filter_map(|path| base.read(path)?.parse::<Table>().ok());
    let (mut by_tests, mut by_product) = (false, false);
    for manifest in manifests {
        by_tests |= depends(&manifest, &["dev-dependencies"], &name);
        by_product |= depends(&manifest, &["dependencies", "build-dependencies"], &name);
    }
    by_tests && !by_product
}

/// Whether a manifest names a package in one of these tables, for any target.
fn depends(manifest: &Table, tables: &[&str], name: &str) -> bool {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values);
    let all = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    let named = all.flat_map(|table| tables.iter().filter_map(|key| table.get(*key)?.as_table()));
    let mut entries = named.flatten();
    entries.any(|(key, value)| {
        let package = value.get("package").and_then(Value::as_str);
        package.unwrap_or(key) == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    #[test]
    fn what_is_compiled_for_tests_alone() {
        let manifest = |name: &str, more: &str| format!("[package]\nname = \"{name}\"\n{more}");
        let calc = manifest(
            "calc",
            "[dependencies]\nshared = { path = \"../shared\" }\n[dev-dependencies]\nchecks-it = { path = \"../checkit\" }\nshared = { path = \"../shared\" }\n",
        );
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n".to_owned()),
            ("crates/calc/Cargo.toml", calc),
            ("crates/checkit/Cargo.toml", manifest("checks-it", "")),
            ("crates/checkit/src/lib.rs", String::new()),
            ("crates/shared/Cargo.toml", manifest("shared", "")),
            ("crates/shared/src/lib.rs", String::new()),
            (
                "crates/calc/src/lib.rs",
                "pub mod product;\n#[cfg(test)]\nmod probe;\n#[cfg(not(test))]\nmod real;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tool;\n#[cfg(all(test, unix))]\nmod on_unix;\n".to_owned(),
            ),
            ("crates/calc/src/product.rs", "mod inner;\n".to_owned()),
            ("crates/calc/src/probe.rs", "mod deep;\n".to_owned()),
        ];
        let names: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let tree: MapTree = files.into_iter().collect();
        for (path, expected) in [
            ("crates/calc/src/lib.rs", false),
            ("crates/calc/src/product.rs", false),
            ("crates/calc/src/product/inner.rs", false),
            ("crates/calc/src/real.rs", false),
            ("crates/calc/src/probe.rs", true),
            ("crates/calc/src/on_unix.rs", true),
            ("crates/calc/src/probe/mod.rs", true),
            ("crates/calc/src/probe/deep.rs", true),
            ("crates/checkit/src/lib.rs", true),
            ("crates/checkit/src/new.rs", true),
            ("crates/shared/src/lib.rs", false),
        ] {
            assert_eq!(is_rust_for_tests(path, &names, &tree), expected, "{path}");
        }
    }

    #[test]
    fn a_crate_is_for_tests_if_nothing_else_uses_it() {
        let user = "[package]\nname = \"user\"\n";
        let helper = "[package]\nname = \"helper\"\n";
        for (more, main, expected) in [
            (
                "[dev-dependencies]\nhelper = { path = \"../helper\" }\n",
                false,
                true,
            ),
            // A program is somebody's product whoever else uses its library.
            (
                "[dev-dependencies]\nhelper = { path = \"../helper\" }\n",
                true,
                false,
            ),
            (
                "[dev-dependencies]\nother = { package = \"helper\", path = \"../helper\" }\n",
                false,
                true,
            ),
            (
                "[dev-dependencies]\nhelper = { package = \"other\" }\n",
                false,
                false,
            ),
            (
                "[target.'cfg(unix)'.dev-dependencies]\nhelper = { path = \"../helper\" }\n",
                false,
                true,
            ),
            (
                "[dev-dependencies]\nhelper = { path = \"../helper\" }\n[build-dependencies]\nhelper = { path = \"../helper\" }\n",
                false,
                false,
            ),
            (
                "[dev-dependencies]\nhelper = { path = \"../helper\" }\n[target.'cfg(unix)'.dependencies]\nhelper = { path = \"../helper\" }\n",
                false,
                false,
            ),
            ("", false, false),
        ] {
            let mut files = vec![
                ("user/Cargo.toml", format!("{user}{more}")),
                ("helper/Cargo.toml", helper.to_owned()),
                ("helper/src/lib.rs", String::new()),
            ];
            if main {
                files.push(("helper/src/main.rs", String::new()));
            }
            let names: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
            let tree: MapTree = files.into_iter().collect();
            let is_for_tests = is_rust_for_tests("helper/src/lib.rs", &names, &tree);
            assert_eq!(is_for_tests, expected, "{more}, main {main}");
        }
    }

    #[test]
    fn copies_of_others_code_are_known_by_their_folder() {
        for (path, expected) in [
            ("node_modules/check/index.js", true),
            ("web/vendor/expects/__init__.py", true),
            ("vendor.py", false),
            ("tools/vendor", false),
            ("src/vendors/list.py", false),
        ] {
            assert_eq!(is_of_others(path), expected, "{path}");
        }
    }
}
