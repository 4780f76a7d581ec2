//! The licences of everything that is inside the program. It is handed out as one static file, and
//! most of what it is built from asks that its notice goes with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// How the files begin that hold a licence or a notice.
const BEGINNINGS: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

const HEAD: &str = "\
# What Loopwright is built from

The program contains the packages below, each under its own licence. Equal texts are printed once.
";

/// One package of others.
struct Part {
    name: String,
    licence: String,
    /// Texts, as the package carries them.
    texts: Vec<String>,
}

/// All packages that the program links, with their texts, as one page.
pub(super) fn third_party(metadata: &Value) -> Result<String> {
    let ids = linked(metadata)?;
    let packages = metadata["packages"].as_array().context("packages")?;
    let mut parts = Vec::new();
    for package in packages {
        let is_linked = package["id"].as_str().is_some_and(|id| ids.contains(id));
        // Our own have no source: they are under the licence that lies beside this page.
        if is_linked && package["source"].is_string() {
            parts.push(part(package)?);
        }
    }
    Ok(page(&parts))
}

/// Follows the resolved graph from the program, leaving out what only tests and builds need.
fn linked(metadata: &Value) -> Result<BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array();
    let nodes = nodes.context("`cargo metadata` resolves nothing")?;
    let by_id: BTreeMap<&str, &Value> = nodes
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let packages = metadata["packages"].as_array().context("packages")?;
    let program = packages.iter().find(|one| one["name"] == "loopwright");
    let program = program.and_then(|one| one["id"].as_str());
    let mut open = vec![program.context("the program's id")?];
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let dependencies = by_id.get(id).and_then(|node| node["deps"].as_array());
        let normal = dependencies.into_iter().flatten().filter(|dependency| {
            let kinds = dependency["dep_kinds"].as_array();
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        });
        open.extend(normal.filter_map(|dependency| dependency["pkg"].as_str()));
    }
    Ok(found)
}

fn part(package: &Value) -> Result<Part> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let folder = Path::new(text("manifest_path")).parent();
    let folder = folder.context("a package lies in no folder")?;
    let mut names: Vec<String> = fs::read_dir(folder)
        .with_context(|| format!("cannot list `{}`", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_licence(name))
        .collect();
    names.sort();
    let texts = names.iter().filter_map(|name| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        Some(text.replace('\r', "").trim().to_owned())
    });
    Ok(Part {
        name: format!("{} {}", text("name"), text("version")),
        licence: text("license").to_owned(),
        texts: texts.collect(),
    })
}

fn is_licence(name: &str) -> bool {
    let name = name.to_uppercase();
    BEGINNINGS.iter().any(|start| name.starts_with(start))
}

fn page(parts: &[Part]) -> String {
    let mut out = HEAD.to_owned();
    for part in parts {
        out += &format!("\n- {} ({})", part.name, part.licence);
    }
    out.push('\n');
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for part in parts {
        for text in &part.texts {
            texts.entry(text).or_default().push(&part.name);
        }
    }
    for (text, names) in texts {
        let quoted: String = text.lines().map(|line| format!("    {line}\n")).collect();
        out += &format!("\n## {}\n\n{quoted}", names.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_linked_counts() {
        let node = |id: &str, deps: Value| json!({ "id": id, "deps": deps });
        let metadata = json!({
            "packages": [{ "name": "loopwright", "id": "p" }],
            "resolve": { "nodes": [
                node("p", json!([
                    { "pkg": "a", "dep_kinds": [{ "kind": null }] },
                    { "pkg": "t", "dep_kinds": [{ "kind": "dev" }] },
                    { "pkg": "b", "dep_kinds": [{ "kind": "build" }] },
                ])),
                node("a", json!([{ "pkg": "c", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] }])),
                node("c", json!([])), node("t", json!([])), node("b", json!([])),
            ] },
        });
        assert_eq!(linked(&metadata).unwrap(), BTreeSet::from(["p", "a", "c"]));
    }

    #[test]
    fn an_equal_text_is_printed_once() {
        let part = |name: &str, text: &str| Part {
            name: name.to_owned(),
            licence: "MIT".to_owned(),
            texts: vec![text.to_owned()],
        };
        let seen = page(&[part("a 1", "yes"), part("b 2", "yes"), part("c 3", "no")]);
        let expected = "\n- a 1 (MIT)\n- b 2 (MIT)\n- c 3 (MIT)\n\n## c 3\n\n    no\n\n## a 1, b 2\n\n    yes\n";
        assert_eq!(seen.strip_prefix(HEAD), Some(expected));
    }

    #[test]
    fn a_licence_is_known_by_its_name() {
        for (name, expected) in [
            ("LICENSE-MIT", true),
            ("license.md", true),
            ("COPYING", true),
            ("NOTICE", true),
            ("README.md", false),
        ] {
            assert_eq!(is_licence(name), expected, "{name}");
        }
    }
}
