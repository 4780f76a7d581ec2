//! The rule `homes`: a heavy crate has few homes, so that it can be replaced, and so that the pure
//! crates stay pure.
//!
//! Light crates are free: their price is the line in the root manifest with its reason.

use super::complaint::{Complaint, Rule};
use super::edges::line_of;
use super::tree::Tree;
use crate::metadata::{Dependency, Kind, Package};

struct Home {
    dependency: &'static str,
    crates: &'static [&'static str],
    /// Whether this holds for tests as well.
    in_tests: InTests,
}

#[derive(PartialEq, Eq)]
enum InTests {
    Bound,
    Free,
}

const HOMES: [Home; 15] = [
    Home {
        dependency: "rusqlite",
        crates: &["journal"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "saphyr-parser",
        crates: &["prd"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "clap",
        crates: &["cli"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "clap_complete",
        crates: &["cli"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "clap_mangen",
        crates: &["cli"],
        in_tests: InTests::Bound,
    },
    // It can ask the clock, so that it stays out of the crates that decide.
    Home {
        dependency: "jiff",
        crates: &["agents", "views", "home", "testkit"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "globset",
        crates: &["checks"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "tokio",
        crates: &[
            "engine",
            "sandbox",
            "agents",
            "publish",
            "web",
            "cli",
            "loopwright",
            "testkit",
        ],
        in_tests: InTests::Bound,
    },
    // The pure crates say nothing: what is worth a line in the log is an event.
    Home {
        dependency: "tracing",
        crates: &[
            "engine",
            "sandbox",
            "agents",
            "publish",
            "web",
            "cli",
            "loopwright",
        ],
        in_tests: InTests::Bound,
    },
    // Where the log goes is decided once, by the binary.
    Home {
        dependency: "tracing-subscriber",
        crates: &["loopwright"],
        in_tests: InTests::Bound,
    },
    // Only the proxy of a jail speaks TLS by itself.
    Home {
        dependency: "rustls",
        crates: &["sandbox"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "axum",
        crates: &["web"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "agent-client-protocol",
        crates: &["acp"],
        in_tests: InTests::Bound,
    },
    Home {
        dependency: "futures",
        crates: &["acp"],
        in_tests: InTests::Bound,
    },
    // A test may well end with any error; a boundary of ours names its own.
    Home {
        dependency: "anyhow",
        crates: &["xtask"],
        in_tests: InTests::Free,
    },
];

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<Complaint> {
    packages
        .iter()
        .flat_map(|package| check_package(tree.text(&package.manifest), package))
        .collect()
}

fn check_package(manifest: &str, package: &Package) -> Vec<Complaint> {
    let refused = package.dependencies.iter().filter_map(|dependency| {
        let home = HOMES
            .iter()
            .find(|home| home.dependency == dependency.name)?;
        (!is_at_home(home, package, dependency)).then_some(home)
    });
    let complaint = |home: &Home| {
        let message = format!(
            "`{}` belongs to {} only",
            home.dependency,
            home.crates.join(", ")
        );
        Complaint::new(
            Rule::Homes,
            &package.manifest,
            line_of(manifest, home.dependency),
            message,
        )
    };
    refused.map(complaint).collect()
}

fn is_at_home(home: &Home, package: &Package, dependency: &Dependency) -> bool {
    let is_free = dependency.kind == Kind::Dev && home.in_tests == InTests::Free;
    is_free || home.crates.contains(&package.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Origin;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_heavy_crate_is_refused_outside_its_homes() {
        let talkers = "engine, sandbox, agents, publish, web, cli, loopwright";
        for (name, dependency, kind, homes) in [
            ("journal", "rusqlite", Kind::Normal, None),
            ("engine", "rusqlite", Kind::Normal, Some("journal")),
            ("engine", "rusqlite", Kind::Dev, Some("journal")),
            ("prd", "saphyr-parser", Kind::Normal, None),
            ("cli", "saphyr-parser", Kind::Normal, Some("prd")),
            ("bench", "clap", Kind::Normal, Some("cli")),
            ("loopwright", "clap", Kind::Normal, Some("cli")),
            ("testkit", "tokio", Kind::Normal, None),
            ("loopwright", "tokio", Kind::Normal, None),
            ("engine", "tracing", Kind::Normal, None),
            ("kernel", "tracing", Kind::Normal, Some(talkers)),
            ("loopwright", "tracing-subscriber", Kind::Normal, None),
            (
                "cli",
                "tracing-subscriber",
                Kind::Normal,
                Some("loopwright"),
            ),
            ("home", "jiff", Kind::Normal, None),
            (
                "kernel",
                "jiff",
                Kind::Normal,
                Some("agents, views, home, testkit"),
            ),
            ("checks", "globset", Kind::Normal, None),
            ("engine", "globset", Kind::Normal, Some("checks")),
            ("kernel", "serde", Kind::Normal, None),
            ("xtask", "anyhow", Kind::Normal, None),
            ("prd", "anyhow", Kind::Dev, None),
            ("prd", "anyhow", Kind::Build, Some("xtask")),
        ] {
            let expected = homes.map(|homes| {
                format!("m/Cargo.toml:2: `{dependency}` belongs to {homes} only (homes)")
            });
            let manifest = format!("[dependencies]\n{dependency}.workspace = true\n");
            let dependencies = vec![Dependency {
                name: dependency.to_owned(),
                kind,
                origin: Origin::Outside,
            }];
            let package = Package {
                name: name.to_owned(),
                manifest: "m/Cargo.toml".to_owned(),
                dependencies,
            };
            let seen = check(&Tree::of(&[("m/Cargo.toml", &manifest)]), &[package]);
            assert_eq!(
                shown(&seen),
                Vec::from_iter(expected),
                "{dependency} in {name}, {kind:?}"
            );
        }
    }
}
