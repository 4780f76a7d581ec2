//! JavaScript and TypeScript, with any package manager.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ecosystem::Ecosystem;
use super::node_scripts::{Alone, Scripts};
use super::propose::{Machine, Proposal, Proposed};
use crate::tree::Tree;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

pub(super) fn propose(tree: &dyn Tree, machine: Machine<'_>) -> Option<Proposal> {
    let manifest: Value = serde_json::from_str(&tree.read("package.json")?).unwrap_or(Value::Null);
    let manager = manager(tree, &manifest);
    let mut proposal = Proposal::of(Ecosystem::Node);
    let project = Project {
        tree,
        manager,
        program: program(manager, tree, &manifest, machine, &mut proposal.notes),
        scripts: Scripts {
            manifest: &manifest,
        },
        manifest: &manifest,
    };
    proposal.setup = project.setup();
    let typecheck = project.first(&["typecheck", "type-check", "check-types", "types", "tsc"]);
    let lint = project.first(&["lint", "lint:check", "check:lint", "eslint", "standard"]);
    proposal.typecheck = typecheck.map(|name| project.run_script(name));
    proposal.lint = lint.map(|name| project.run_script(name));
    let reached = project.test(typecheck, lint, &mut proposal);
    // What another check runs on its way is not run a second time.
    for (name, check) in [
        (lint, &mut proposal.lint),
        (typecheck, &mut proposal.typecheck),
    ] {
        if let Some(name) = name.filter(|name| reached.contains(*name)) {
            *check = None;
            proposal.notes.push(format!(
                "the script `{name}` is part of `test` and is not run twice"
            ));
        }
    }
    if let (Some(lint), Some(typecheck)) = (lint, typecheck)
        && proposal.lint.is_some()
        && project.scripts.reached(lint).contains(typecheck)
    {
        proposal.typecheck = None;
    }
    proposal.typecheck = proposal.typecheck.or_else(|| match typecheck {
        None => project.tsc(),
        Some(_) => None,
    });
    proposal.lint = proposal.lint.or_else(|| match lint {
        None => project.linter(),
        Some(_) => None,
    });
    let changes = lint.and_then(|name| project.scripts.text(name));
    if changes.is_some_and(|text| text.contains("--fix") || text.contains("--write")) {
        proposal
            .notes
            .push("the script for `lint` changes files; a check should only look".to_owned());
    }
    Some(proposal)
}

struct Project<'a> {
    tree: &'a dyn Tree,
    manager: Manager,
    /// How the manager is called.
    program: String,
    scripts: Scripts<'a>,
    manifest: &'a Value,
}

/// How a manager is called; one that this machine does not have comes from the registry.
fn program(
    manager: Manager,
    tree: &dyn Tree,
    manifest: &Value,
    machine: Machine<'_>,
    notes: &mut Vec<String>,
) -> String {
    let name = match manager {
        Manager::Npm => "npm",
        Manager::Pnpm => "pnpm",
        Manager::Yarn => "yarn",
        Manager::Bun => "bun",
    };
    if manager == Manager::Npm || machine(name) || !machine("npx") {
        return name.to_owned();
    }
    notes.push(format!("{name} is not installed here, so npx fetches it"));
    let named = manifest.get("packageManager").and_then(Value::as_str);
    let version = named
        .and_then(|named| named.split_once('@'))
        .and_then(|(_, version)| version.split('+').next())
        .map_or(String::new(), |version| format!("@{version}"));
    let package = if manager == Manager::Yarn && tree.has(".yarnrc.yml") {
        "@yarnpkg/cli-dist"
    } else {
        name
    };
    format!("npx --yes {package}{version}")
}

/// By lock file, then by the manifest's word; npm is there when nothing is said.
fn manager(tree: &dyn Tree, manifest: &Value) -> Manager {
    let named = manifest
        .get("packageManager")
        .and_then(Value::as_str)
        .unwrap_or("");
    if tree.has("pnpm-lock.yaml") || named.starts_with("pnpm") {
        Manager::Pnpm
    } else if tree.has("yarn.lock") || named.starts_with("yarn") {
        Manager::Yarn
    } else if tree.has("bun.lock") || tree.has("bun.lockb") || named.starts_with("bun") {
        Manager::Bun
    } else {
        Manager::Npm
    }
}

impl Project<'_> {
    fn setup(&self) -> Option<Proposed> {
        let (words, locks): (_, &[&'static str]) = match self.manager {
            Manager::Npm => ("ci", &["package-lock.json", "npm-shrinkwrap.json"]),
            Manager::Pnpm => ("install --frozen-lockfile", &["pnpm-lock.yaml"]),
            Manager::Yarn if self.tree.has(".yarnrc.yml") => {
                ("install --immutable", &["yarn.lock"])
            }
            Manager::Yarn => ("install --frozen-lockfile", &["yarn.lock"]),
            Manager::Bun => ("install --frozen-lockfile", &["bun.lock", "bun.lockb"]),
        };
        let lock = locks.iter().copied().find(|name| self.tree.has(name));
        let by_lock = lock.map(|lock| Proposed::new(format!("{} {words}", self.program), lock));
        by_lock.or_else(|| {
            self.has_dependencies().then(|| {
                Proposed::new(
                    format!("{} install", self.program),
                    "dependencies in package.json, no lock file",
                )
            })
        })
    }

    /// How a program of a dependency is started.
    fn run(&self, program: &str) -> String {
        match self.manager {
            Manager::Npm => format!("npx --no-install {program}"),
            Manager::Pnpm => format!("{} exec {program}", self.program),
            Manager::Yarn => format!("{} {program}", self.program),
            Manager::Bun if self.program == "bun" => format!("bunx {program}"),
            Manager::Bun => format!("{} x {program}", self.program),
        }
    }

    /// The first of these scripts that there is.
    fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names
            .iter()
            .copied()
            .find(|name| self.scripts.text(name).is_some())
    }

    fn run_script(&self, name: &str) -> Proposed {
        let run = if name == "test" && self.manager != Manager::Bun {
            ""
        } else {
            "run "
        };
        Proposed::new(
            format!("{} {run}{name}", self.program),
            format!("the script `{name}` in package.json"),
        )
    }

    /// Proposes the tests alone, and returns the scripts that they run all the same.
    fn test(
        &self,
        typecheck: Option<&str>,
        lint: Option<&str>,
        proposal: &mut Proposal,
    ) -> BTreeSet<String> {
        if self.scripts.text("test").is_none() {
            proposal.test = self.runner();
            return BTreeSet::new();
        }
        let others: Vec<&str> = typecheck.into_iter().chain(lint).collect();
        let (test, reached) = match self.scripts.test_without(&others) {
            Alone::Script(name) => {
                let mut test = self.run_script(&name);
                test.why = format!("the script `{name}`, which does the testing of `test`");
                (test, self.scripts.reached(&name))
            }
            // The others have no such option.
            Alone::WithoutHooks if self.manager == Manager::Npm => {
                let mut test = self.run_script("test");
                test.command += " --ignore-scripts";
                proposal.notes.push(
                    "`test` is run without the scripts around it, which other checks run or which ask a registry"
                        .to_owned(),
                );
                (test, BTreeSet::new())
            }
            Alone::Already | Alone::WithoutHooks | Alone::Never => {
                (self.run_script("test"), self.scripts.reached("test"))
            }
        };
        proposal.test = Some(test);
        reached
    }

    fn has_dependencies(&self) -> bool {
        ["dependencies", "devDependencies"].iter().any(|key| {
            self.manifest
                .get(key)
                .and_then(Value::as_object)
                .is_some_and(|found| !found.is_empty())
        })
    }

    fn depends_on(&self, package: &str) -> bool {
        ["dependencies", "devDependencies"].iter().any(|key| {
            self.manifest
                .get(key)
                .is_some_and(|found| found.get(package).is_some())
        })
    }

    fn tsc(&self) -> Option<Proposed> {
        let is_shown = self.tree.has("tsconfig.json") && self.depends_on("typescript");
        is_shown.then(|| Proposed::new(self.run("tsc --noEmit"), "tsconfig.json and typescript"))
    }

    fn linter(&self) -> Option<Proposed> {
        let names = self.tree.list("");
        let has = |start: &str| names.iter().find(|name| name.starts_with(start));
        // Scripts that call it say better what of the project it looks at.
        let is_free =
            |package: &str, program: &str| self.depends_on(package) && !self.scripts.call(program);
        if let Some(file) = has("biome.json").filter(|_| is_free("@biomejs/biome", "biome")) {
            return Some(Proposed::new(self.run("biome check"), file.as_str()));
        }
        let file = has("eslint.config.")
            .or_else(|| has(".eslintrc"))
            .filter(|_| is_free("eslint", "eslint"))?;
        Some(Proposed::new(self.run("eslint ."), file.as_str()))
    }

    fn runner(&self) -> Option<Proposed> {
        for (package, program) in [
            ("vitest", "vitest run"),
            ("jest", "jest"),
            ("mocha", "mocha"),
        ] {
            if self.depends_on(package) {
                return Some(Proposed::new(
                    self.run(program),
                    format!("{package} in package.json"),
                ));
            }
        }
        let file = ["", "test", "tests", "src"]
            .iter()
            .flat_map(|folder| self.tree.list(folder))
            .find(|name| {
                let stem = name.split('.').next().unwrap_or(name);
                name.contains(".test.")
                    || (name.ends_with("js") && (stem == "test" || stem.ends_with("-test")))
            })?;
        match self.manager {
            Manager::Bun => Some(Proposed::new(
                format!("{} test", self.program),
                file.as_str(),
            )),
            Manager::Npm | Manager::Pnpm | Manager::Yarn => {
                Some(Proposed::new("node --test", file.as_str()))
            }
        }
    }
}
