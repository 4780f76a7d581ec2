//! Manifests merged by key: the base's, with the new dependencies that a candidate adds.
//!
//! A dependency is taken only where it is plainly one more package from a registry that hooks
//! neither the runner nor the installation. Everything else in a manifest is configuration.

use serde_json::{Map, Value};

/// Tables of `package.json` that list packages.
const NODE_TABLES: [&str; 4] = [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
];
/// Tables of `Cargo.toml` that list packages. What build scripts use runs while building.
const CARGO_TABLES: [&str; 2] = ["dependencies", "dev-dependencies"];

/// Says whether a file is a manifest or a lock that can be merged.
pub fn is_manifest(path: &str) -> bool {
    let name = name_of(path);
    [
        "package.json",
        "Cargo.toml",
        "pyproject.toml",
        "package-lock.json",
        "Cargo.lock",
    ]
    .contains(&name)
        || is_requirements(name)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_requirements(name: &str) -> bool {
    name.contains("requirements") && crate::text::extension(name) == "txt"
}

/// The base's manifest with the candidate's new dependencies; none where there are none, or where
/// they cannot be told from other changes.
pub fn with_new_dependencies(path: &str, base: &str, candidate: &str) -> Option<String> {
    let merged = match name_of(path) {
        "package.json" => package(base, candidate),
        "Cargo.toml" => cargo(base, candidate),
        "pyproject.toml" => pyproject(base, candidate),
        "package-lock.json" => node_lock(base, candidate),
        "Cargo.lock" => cargo_lock(base, candidate),
        name if is_requirements(name) => requirements(base, candidate),
        _ => None,
    }?;
    (merged != base).then_some(merged)
}

/// Names of packages that change how tests run as soon as they are installed.
fn hooks_the_runner(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "pytest", "vitest", "jest", "mocha", "babel", "ts-node", "tsx", "swc", "karma", "ava",
        "tap", "plugin", "preset", "register",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| {
        name.split(['-', '_', '/', '@', '.'])
            .any(|part| part == *word)
    })
}

fn package(base: &str, candidate: &str) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let (mut merged, candidate) = (read(base)?, read(candidate)?);
    let mut has_new = false;
    for table in NODE_TABLES {
        let Some(new) = candidate.get(table).and_then(Value::as_object) else {
            continue;
        };
        for (name, version) in new {
            let known = NODE_TABLES.iter().any(|table| {
                merged
                    .get(*table)
                    .is_some_and(|old| old.get(name).is_some())
            });
            if known {
                continue;
            }
            let plain = version
                .as_str()
                .filter(|version| !version.contains([':', '/']) && !hooks_the_runner(name))?;
            let entry = merged
                .entry(table)
                .or_insert_with(|| Value::Object(Map::new()));
            entry.as_object_mut()?.insert(name.clone(), plain.into());
            has_new = true;
        }
    }
    has_new.then(|| Value::Object(merged).to_string() + "\n")
}

fn toml_of(text: &str) -> Option<toml::Table> {
    text.parse().ok()
}

fn cargo(base: &str, candidate: &str) -> Option<String> {
    let (mut merged, candidate) = (toml_of(base)?, toml_of(candidate)?);
    let mut has_new = false;
    for table in CARGO_TABLES {
        let Some(new) = candidate.get(table).and_then(toml::Value::as_table) else {
            continue;
        };
        for (name, value) in new {
            let known = CARGO_TABLES.iter().any(|table| {
                merged
                    .get(*table)
                    .is_some_and(|old| old.get(name).is_some())
            });
            if known {
                continue;
            }
            let is_plain = match value {
                toml::Value::String(_) => true,
                // A neighbour in the same project is code that is looked at anyway.
                toml::Value::Table(table) => table.iter().all(|(key, value)| {
                    let is_near = value.as_str().is_some_and(|path| path.starts_with("../"));
                    [
                        "version",
                        "features",
                        "default-features",
                        "optional",
                        "workspace",
                    ]
                    .contains(&key.as_str())
                        || (key == "path" && is_near)
                }),
                _ => false,
            };
            if !is_plain {
                return None;
            }
            let entry = merged
                .entry(table)
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            entry.as_table_mut()?.insert(name.clone(), value.clone());
            has_new = true;
        }
    }
    if !has_new {
        return None;
    }
    toml::to_string(&merged).ok()
}

fn pyproject(base: &str, candidate: &str) -> Option<String> {
    let (mut merged, candidate) = (toml_of(base)?, toml_of(candidate)?);
    let new = candidate.get("project")?.get("dependencies")?.as_array()?;
    let project = merged.get_mut("project")?.as_table_mut()?;
    let old = project
        .entry("dependencies")
        .or_insert_with(|| toml::Value::Array(Vec::new()))
        .as_array_mut()?;
    let is_kept = old.iter().all(|each| new.contains(each));
    let added: Vec<toml::Value> = new
        .iter()
        .filter(|each| !old.contains(each))
        .cloned()
        .collect();
    let is_plain = |each: &toml::Value| each.as_str().is_some_and(is_plain_requirement);
    if !is_kept || added.is_empty() || !added.iter().all(is_plain) {
        return None;
    }
    old.extend(added);
    toml::to_string(&merged).ok()
}

fn is_plain_requirement(line: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = line
        .trim()
        .chars()
        .take_while(|letter| is_name(*letter))
        .collect();
    !name.is_empty()
        && !line.trim_start().starts_with('-')
        && !line.contains(['@', '/', ':'])
        && !hooks_the_runner(&name)
}

fn requirements(base: &str, candidate: &str) -> Option<String> {
    let is_requirement = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let old: Vec<&str> = base.lines().filter(is_requirement).collect();
    let new: Vec<&str> = candidate.lines().filter(is_requirement).collect();
    let is_kept = old.iter().all(|line| new.contains(line));
    let mut added = new.iter().filter(|line| !old.contains(line));
    (is_kept && added.all(|line| is_plain_requirement(line))).then(|| candidate.to_owned())
}

/// A lock may grow. What it says of packages that were there must stay, and nothing new may run
/// while it is installed.
fn node_lock(base: &str, candidate: &str) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (base, new) = (read(base)?, read(candidate)?);
    let (old, packages) = (
        base.get("packages")?.as_object()?,
        new.get("packages")?.as_object()?,
    );
    let is_kept =
        |(name, entry): (&String, &Value)| name.is_empty() || packages.get(name) == Some(entry);
    let is_calm = |(name, entry): (&String, &Value)| {
        old.contains_key(name)
            || (entry.get("hasInstallScript").is_none()
                && entry.get("link").is_none()
                && !hooks_the_runner(name.rsplit("node_modules/").next().unwrap_or(name)))
    };
    (old.iter().all(is_kept) && packages.iter().all(is_calm)).then(|| candidate.to_owned())
}

fn cargo_lock(base: &str, candidate: &str) -> Option<String> {
    let (base, new) = (toml_of(base)?, toml_of(candidate)?);
    let empty = Vec::new();
    let packages = |lock: &toml::Table| {
        lock.get("package")
            .and_then(toml::Value::as_array)
            .unwrap_or(&empty)
            .clone()
    };
    let (old, new) = (packages(&base), packages(&new));
    // A package of the project itself has no source; its list of dependencies may grow.
    let is_own = |package: &toml::Value| package.get("source").is_none();
    let is_kept = old
        .iter()
        .all(|package| is_own(package) || new.contains(package));
    let is_calm = new.iter().filter(|package| is_own(package)).all(|package| {
        old.iter()
            .any(|known| known.get("name") == package.get("name"))
    });
    (is_kept && is_calm).then(|| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = r#"{"scripts":{"test":"vitest"},"devDependencies":{"vitest":"1"}}"#;
    const CARGO: &str = "[package]\nname = \"a\"\n";
    const PYTHON: &str = "[project]\nname = 'a'\n";

    #[test]
    fn plain_new_dependencies_are_taken_and_nothing_else() {
        let package = r#"{"scripts":{"test":"true"},"dependencies":{"zod":"^3"},"devDependencies":{"vitest":"1"}}"#;
        let cargo = format!("{CARGO}[dependencies]\nserde = \"1\"\n[[test]]\nname = \"x\"\n");
        let python = format!("{PYTHON}dependencies = ['attrs>=1']\n");
        for (path, base, candidate, expected) in [
            ("package.json", PACKAGE, package, "\"zod\":\"^3\""),
            ("Cargo.toml", CARGO, &cargo, "serde = \"1\""),
            ("pyproject.toml", PYTHON, &python, "attrs>=1"),
            ("requirements.txt", "a\n", "a\nb==1\n", "b==1"),
        ] {
            let merged = with_new_dependencies(path, base, candidate).unwrap_or_default();
            assert!(merged.contains(expected), "{path}: {merged}");
            assert!(
                !merged.contains("\"true\"") && !merged.contains("[[test]]"),
                "{merged}"
            );
        }
    }

    #[test]
    fn what_is_no_plain_dependency_is_refused() {
        for (path, base, candidate) in [
            (
                "package.json",
                PACKAGE,
                r#"{"devDependencies":{"vitest":"file:./fake"}}"#,
            ),
            (
                "package.json",
                PACKAGE,
                r#"{"dependencies":{"x":"file:./x"},"devDependencies":{"vitest":"1"}}"#,
            ),
            (
                "package.json",
                PACKAGE,
                r#"{"devDependencies":{"vitest":"1","babel-plugin-x":"1"}}"#,
            ),
            (
                "Cargo.toml",
                CARGO,
                "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"b\" }\n",
            ),
            (
                "Cargo.toml",
                CARGO,
                "[package]\nname = \"a\"\nautotests = false\n",
            ),
            (
                "pyproject.toml",
                PYTHON,
                "[project]\nname = 'a'\ndependencies = ['pytest-evil']\n",
            ),
            ("requirements.txt", "a\n", "a\n-e ./x\n"),
            ("requirements.txt", "a\n", "b\n"),
        ] {
            assert_eq!(
                with_new_dependencies(path, base, candidate),
                None,
                "{path}: {candidate}"
            );
        }
    }
}
