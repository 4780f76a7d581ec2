//! Which files configure checks, CI and lint. When a verdict is made they are those of the base.

use super::commands::{Named, named};
use super::glob::matches;
use super::mixed::is_mixed;
use crate::tree::Tree;

/// The files that configure a project's checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckConfig {
    named: Named,
}

const ALWAYS: [&str; 62] = [
    // Runners.
    "vitest.config.*",
    "vitest.workspace.*",
    "vite.config.*",
    "jest.config.*",
    "jest.setup.*",
    ".mocharc*",
    ".taprc",
    "playwright.config.*",
    "cypress.config.*",
    "karma.conf.*",
    "ava.config.*",
    ".nycrc*",
    ".c8rc*",
    "bunfig.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "toxfile.py",
    ".coveragerc",
    "noxfile.py",
    "**/.config/nextest.toml",
    // Linters, formatters, type checkers.
    ".eslintrc*",
    "eslint.config.*",
    ".eslintignore",
    "biome.json",
    "biome.jsonc",
    ".prettierrc*",
    "prettier.config.*",
    ".prettierignore",
    ".stylelintrc*",
    ".oxlintrc.json",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    ".isort.cfg",
    "tsconfig*.json",
    "jsconfig.json",
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "deny.toml",
    ".golangci.*",
    "checkstyle.xml",
    ".editorconfig",
    // Toolchains and package managers.
    "**/.cargo/**",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".npmrc",
    ".yarnrc*",
    // CI and hooks.
    "**/.github/workflows/**",
    "**/.github/actions/**",
    ".gitlab-ci.yml",
    "**/.circleci/**",
    ".pre-commit-config.yaml",
    ".travis.yml",
    "azure-pipelines.yml",
];
const MAKE: [&str; 5] = ["Makefile", "makefile", "GNUmakefile", "*.mk", "*.make"];
const JUST: [&str; 3] = ["justfile", "Justfile", ".justfile"];

impl CheckConfig {
    /// The configuration of these check commands in the base's tree.
    pub fn of(commands: &[&str], base: &dyn Tree) -> Self {
        let mut named = named(commands, base);
        named.files.retain(|file| base.read(file).is_some());
        Self { named }
    }

    /// Says whether a file must come from the base as a whole; where the base has none, the
    /// candidate has none either.
    pub fn is_config(&self, path: &str) -> bool {
        if is_mixed(path) {
            return false;
        }
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, path));
        any(&ALWAYS)
            || self.named.files.contains(path)
            || (self.named.calls(&["make", "gmake"]) && any(&MAKE))
            || (self.named.calls(&["just"]) && any(&JUST))
    }

    /// Says whether a check command runs a file. It may be what is checked, or what checks: people
    /// must look.
    pub fn runs(&self, path: &str) -> bool {
        self.named.runs.contains(path)
    }

    /// The scripts of `package.json` that checks run, with those that a package manager runs by
    /// itself.
    pub(super) fn guards_script(&self, script: &str) -> bool {
        const BY_ITSELF: [&str; 6] = [
            "preinstall",
            "install",
            "postinstall",
            "prepare",
            "preprepare",
            "postprepare",
        ];
        self.named.scripts.contains(script) || BY_ITSELF.contains(&script)
    }
}
