//! What `cargo metadata` knows about the workspace, cut down to what the tasks ask.
//!
//! Only the members and what their manifests declare: the resolved graph is not read, because the
//! rules are about what we wrote, not about what it brings along.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::invocation::Invocation;

/// What every package of ours has before its name, so that a registry knows whose it is.
const PREFIX: &str = "loopwright-";

/// The packages that are named otherwise: the program itself, and what never leaves the workspace.
const PLAIN: [&str; 3] = ["loopwright", "xtask", "bench"];

/// The members of the workspace, and where cargo builds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// One member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// The name of its folder, which is also the one that sources use.
    pub(crate) name: String,
    /// Relative to the workspace, with forward slashes.
    pub(crate) manifest: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One declared dependency of a member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// Of ours the short name, of others the name of the package.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
}

/// What a dependency is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// Where a dependency comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Workspace,
    Outside,
}

impl Metadata {
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let text =
            Invocation::cargo(&["metadata", "--format-version", "1", "--no-deps"]).read(root)?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).context("`cargo metadata` printed no valid JSON")?;
        let root = field(&value, "workspace_root")?;
        let packages = list(&value, "packages")?
            .iter()
            .map(|package| parse_package(package, root));
        Ok(Self {
            packages: packages.collect::<Result<_>>()?,
            target_directory: field(&value, "target_directory")?.into(),
        })
    }
}

/// The name of a member's package on a registry.
pub(crate) fn package_name(member: &str) -> String {
    if PLAIN.contains(&member) {
        member.to_owned()
    } else {
        format!("{PREFIX}{member}")
    }
}

/// The reverse of [`package_name`]; a name that we would not give stays whole, so that no row of a
/// table fits it.
fn member_name(package: &str) -> String {
    let short = package.strip_prefix(PREFIX);
    match short {
        Some(short) => short.to_owned(),
        None if PLAIN.contains(&package) => package.to_owned(),
        None => format!("{package} without `{PREFIX}`"),
    }
}

fn parse_package(value: &Value, root: &str) -> Result<Package> {
    let manifest = field(value, "manifest_path")?;
    let manifest = Path::new(manifest)
        .strip_prefix(root)
        .context("a member lies outside the workspace")?;
    Ok(Package {
        name: member_name(field(value, "name")?),
        manifest: manifest.to_string_lossy().replace('\\', "/"),
        dependencies: list(value, "dependencies")?
            .iter()
            .map(parse_dependency)
            .collect::<Result<_>>()?,
    })
}

/// Reads the package's own name: a dependency that was renamed in a manifest does not slip through
/// a rule.
fn parse_dependency(value: &Value) -> Result<Dependency> {
    let kind = match value["kind"].as_str() {
        Some("dev") => Kind::Dev,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    };
    let origin = if value["path"].is_string() {
        Origin::Workspace
    } else {
        Origin::Outside
    };
    let name = field(value, "name")?;
    Ok(Dependency {
        name: match origin {
            Origin::Workspace => member_name(name),
            Origin::Outside => name.to_owned(),
        },
        kind,
        origin,
    })
}

fn field<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    value[name]
        .as_str()
        .with_context(|| format!("`cargo metadata` tells no `{name}`"))
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value[name]
        .as_array()
        .with_context(|| format!("`cargo metadata` tells no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_their_dependencies_are_read() {
        let text = r#"{
            "workspace_root": "/w", "target_directory": "/w/target",
            "packages": [{
                "name": "loopwright-kernel", "manifest_path": "/w/crates/kernel/Cargo.toml",
                "dependencies": [
                    { "name": "loopwright-prd", "rename": "prd", "kind": null, "path": "/w/crates/prd" },
                    { "name": "cc", "kind": "build" },
                    { "name": "insta", "kind": "dev", "rename": "snapshots" }
                ]
            }]
        }"#;
        let dependency = |name: &str, kind, origin| Dependency {
            name: name.to_owned(),
            kind,
            origin,
        };
        let expected = Metadata {
            target_directory: "/w/target".into(),
            packages: vec![Package {
                name: "kernel".to_owned(),
                manifest: "crates/kernel/Cargo.toml".to_owned(),
                dependencies: vec![
                    dependency("prd", Kind::Normal, Origin::Workspace),
                    dependency("cc", Kind::Build, Origin::Outside),
                    dependency("insta", Kind::Dev, Origin::Outside),
                ],
            }],
        };
        assert_eq!(Metadata::parse(text).unwrap(), expected);
    }

    #[test]
    fn a_package_is_known_in_the_tables_as() {
        for (package, expected) in [
            ("loopwright-prd", "prd"),
            ("loopwright", "loopwright"),
            ("xtask", "xtask"),
            ("prd", "prd without `loopwright-`"),
        ] {
            assert_eq!(member_name(package), expected);
        }
        assert_eq!(package_name("prd"), "loopwright-prd");
        assert_eq!(package_name("loopwright"), "loopwright");
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = Metadata::parse("{}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`cargo metadata` tells no `workspace_root`"
        );
    }
}
