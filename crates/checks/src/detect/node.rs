//! JavaScript and TypeScript, with any package manager.

use serde_json::Value;

use super::ecosystem::Ecosystem;
use super::propose::{Proposal, Proposed};
use crate::tree::Tree;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

pub(super) fn propose(tree: &dyn Tree) -> Option<Proposal> {
    let manifest: Value = serde_json::from_str(&tree.read("package.json")?).unwrap_or(Value::Null);
    let project = Project {
        tree,
        manager: manager(tree, &manifest),
        manifest,
    };
    let mut proposal = Proposal::of(Ecosystem::Node);
    proposal.setup = project.setup();
    proposal.typecheck = project
        .script(&["typecheck", "type-check", "check-types", "types", "tsc"])
        .or_else(|| project.tsc());
    proposal.lint = project.script(&["lint"]).or_else(|| project.linter());
    proposal.test = project.script(&["test"]).or_else(|| project.runner());
    if project
        .script_text("lint")
        .is_some_and(|text| text.contains("--fix") || text.contains("--write"))
    {
        proposal
            .notes
            .push("the script `lint` changes files; a check should only look".to_owned());
    }
    Some(proposal)
}

struct Project<'a> {
    tree: &'a dyn Tree,
    manager: Manager,
    manifest: Value,
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
        let first = |names: &[&'static str]| names.iter().copied().find(|name| self.tree.has(name));
        let frozen =
            |command: &str, lock: Option<&str>| lock.map(|lock| Proposed::new(command, lock));
        let by_lock = match self.manager {
            Manager::Npm => frozen(
                "npm ci",
                first(&["package-lock.json", "npm-shrinkwrap.json"]),
            ),
            Manager::Pnpm => frozen("pnpm install --frozen-lockfile", first(&["pnpm-lock.yaml"])),
            Manager::Yarn if self.tree.has(".yarnrc.yml") => {
                frozen("yarn install --immutable", first(&["yarn.lock"]))
            }
            Manager::Yarn => frozen("yarn install --frozen-lockfile", first(&["yarn.lock"])),
            Manager::Bun => frozen(
                "bun install --frozen-lockfile",
                first(&["bun.lock", "bun.lockb"]),
            ),
        };
        by_lock.or_else(|| {
            self.has_dependencies().then(|| {
                Proposed::new(
                    format!("{} install", self.name()),
                    "dependencies in package.json, no lock file",
                )
            })
        })
    }

    fn name(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm",
            Manager::Pnpm => "pnpm",
            Manager::Yarn => "yarn",
            Manager::Bun => "bun",
        }
    }

    /// How a program of a dependency is started.
    fn run(&self, program: &str) -> String {
        match self.manager {
            Manager::Npm => format!("npx --no-install {program}"),
            Manager::Pnpm => format!("pnpm exec {program}"),
            Manager::Yarn => format!("yarn {program}"),
            Manager::Bun => format!("bunx {program}"),
        }
    }

    fn script_text(&self, name: &str) -> Option<&str> {
        let text = self.manifest.get("scripts")?.get(name)?.as_str()?;
        (!text.contains("no test specified")).then_some(text)
    }

    fn script(&self, names: &[&str]) -> Option<Proposed> {
        let name = names.iter().find(|name| self.script_text(name).is_some())?;
        let run = if *name == "test" && self.manager != Manager::Bun {
            ""
        } else {
            "run "
        };
        Some(Proposed::new(
            format!("{} {run}{name}", self.name()),
            format!("the script `{name}` in package.json"),
        ))
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
        if let Some(file) = has("biome.json").filter(|_| self.depends_on("@biomejs/biome")) {
            return Some(Proposed::new(self.run("biome check"), file.as_str()));
        }
        let file = has("eslint.config.")
            .or_else(|| has(".eslintrc"))
            .filter(|_| self.depends_on("eslint"))?;
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
        let tests: Vec<String> = ["", "test/", "tests/", "src/"]
            .iter()
            .flat_map(|folder| self.tree.list(folder))
            .collect();
        let file = tests.iter().find(|name| name.contains(".test."))?;
        match self.manager {
            Manager::Bun => Some(Proposed::new("bun test", file.as_str())),
            Manager::Npm | Manager::Pnpm | Manager::Yarn => {
                Some(Proposed::new("node --test", file.as_str()))
            }
        }
    }
}
