//! What a file is by its name: source, data, documentation, configuration.
//!
//! Only source and data can ever count as product code, and only where nothing else speaks against
//! it. Every other list here can only make a file less trusted.

use std::sync::LazyLock;

use globset::GlobSet;

use super::glob::set;
use crate::text::extension;

/// Extensions of program text.
const SOURCES: [&str; 62] = [
    "rs", "py", "pyi", "pyx", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue",
    "svelte", "astro", "go", "java", "kt", "kts", "scala", "groovy", "c", "h", "cc", "cpp", "cxx",
    "hpp", "hh", "m", "mm", "cs", "fs", "swift", "rb", "php", "pl", "pm", "lua", "ex", "exs",
    "erl", "hrl", "hs", "ml", "mli", "clj", "cljs", "dart", "zig", "nim", "r", "jl", "sh", "bash",
    "zsh", "fish", "ps1", "awk", "sol", "v", "sv", "vhd",
];

/// Extensions of what programs read and show.
const DATA: [&str; 59] = [
    "txt", "text", "html", "htm", "css", "scss", "sass", "less", "svg", "png", "jpg", "jpeg",
    "gif", "webp", "avif", "ico", "woff", "woff2", "ttf", "otf", "eot", "sql", "csv", "tsv", "xml",
    "xsd", "xsl", "tmpl", "tpl", "template", "j2", "jinja", "jinja2", "ejs", "hbs", "mustache",
    "njk", "liquid", "pug", "erb", "haml", "graphql", "gql", "proto", "pdf", "mp3", "wav", "ogg",
    "mp4", "webm", "po", "pot", "ftl", "geojson", "ndjson", "jsonl", "dat", "bin", "glsl",
];

/// Extensions of files that are data where product source lies, and configuration at the top.
const EITHER: [&str; 12] = [
    "json",
    "json5",
    "jsonc",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "properties",
    "plist",
    "ron",
];

/// Extensions of documentation.
const DOCUMENTS: [&str; 6] = ["md", "mdx", "markdown", "rst", "adoc", "org"];

/// Names that tools look for by themselves, wherever they lie. Configuration, manifests, locks,
/// build scripts.
const LOOKED_FOR: [&str; 125] = [
    // Runners.
    "vitest.*",
    "vite.config.*",
    "vite.*.config.*",
    "jest.*",
    "jest-*",
    ".mocharc*",
    ".taprc",
    "playwright.config.*",
    "cypress.*",
    "karma.*",
    "ava.config.*",
    ".nycrc*",
    ".c8rc*",
    "bunfig.toml",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "tox.toml",
    "toxfile.py",
    ".coveragerc",
    "coverage.toml",
    "noxfile.py",
    "conftest.py",
    "nextest.toml",
    "wallaby.*",
    "setupTests.*",
    "setup-tests.*",
    "setuptests.*",
    "test-setup.*",
    "*.workspace.*",
    "babel.*",
    ".babelrc*",
    ".swcrc",
    "webpack.*",
    "rollup.*",
    "esbuild.*",
    "metro.config.*",
    "*.config.js",
    "*.config.cjs",
    "*.config.mjs",
    "*.config.ts",
    "*.config.mts",
    "*.config.cts",
    "*.config.json",
    "*.conf.js",
    "*rc.js",
    "*rc.cjs",
    "*rc.json",
    "gulpfile.*",
    "Gruntfile.*",
    // Linters, formatters, type checkers.
    ".eslintrc*",
    "biome.json*",
    ".prettierrc*",
    ".stylelintrc*",
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
    "jsconfig*.json",
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "deny.toml",
    ".golangci.*",
    "checkstyle.xml",
    "ty.toml",
    "py.typed",
    // Manifests, locks, package managers, toolchains.
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-*.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.json*",
    "deno.lock",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "MANIFEST.in",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "*requirements*.txt",
    "constraints*.txt",
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "rust-toolchain",
    "rust-toolchain.toml",
    "go.mod",
    "go.sum",
    "go.work",
    "Gemfile*",
    "Rakefile",
    "pom.xml",
    "*.gradle",
    "*.gradle.kts",
    "gradle.properties",
    "composer.*",
    "mix.exs",
    "*.cabal",
    "CMakeLists.txt",
    "meson.build",
    "Dockerfile*",
    "docker-compose*",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "*.mk",
    "*.make",
    "justfile",
    "Justfile",
    "Taskfile.*",
];

/// Files that Python loads by itself.
const STARTED: [&str; 4] = [
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "*.egg-link",
];

/// Says whether a file is program text.
pub(super) fn is_source(path: &str) -> bool {
    SOURCES.contains(&extension(path).to_ascii_lowercase().as_str())
}

/// Says whether a file is documentation.
pub(super) fn is_document(path: &str) -> bool {
    DOCUMENTS.contains(&extension(path).to_ascii_lowercase().as_str())
}

static LOOKED_FOR_SET: LazyLock<GlobSet> =
    LazyLock::new(|| set(&[&LOOKED_FOR[..], &STARTED[..]].concat()));

/// Says whether a file is data of a product, if it lies among its source.
pub(super) fn is_data(path: &str) -> bool {
    DATA.contains(&extension(path).to_ascii_lowercase().as_str()) || is_either(path)
}

/// Says whether a file may be configuration or data, which only its place tells.
pub(super) fn is_either(path: &str) -> bool {
    EITHER.contains(&extension(path).to_ascii_lowercase().as_str())
}

/// Says whether tools look for a file of this name by themselves.
pub(super) fn is_looked_for(path: &str) -> bool {
    // Cargo's build script lies beside the manifest; below `src/` it is a module.
    if path.ends_with("src/build.rs") || (path.ends_with("/build.rs") && path.contains("src/")) {
        return false;
    }
    LOOKED_FOR_SET.is_match(path)
}

/// Says whether a name or a folder of the path begins with a dot, or describes an installed package,
/// which tools read by themselves.
pub(super) fn is_hidden(path: &str) -> bool {
    let is_hidden = |part: &str| part.starts_with('.') && part != "." && part != "..";
    let is_metadata = |part: &str| part.ends_with(".egg-info") || part.ends_with(".dist-info");
    path.split('/')
        .any(|part| is_hidden(part) || is_metadata(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_ours_can_be_read() {
        for pattern in LOOKED_FOR.iter().chain(&STARTED) {
            assert!(
                super::super::glob::Pattern::parse(pattern).is_ok(),
                "{pattern}"
            );
        }
    }

    #[test]
    fn names_that_tools_look_for() {
        for (path, expected) in [
            ("pytest.toml", true),
            ("sub/package.json", true),
            ("babel.config.cjs", true),
            ("vitest.setup.ts", true),
            ("crates/a/build.rs", true),
            ("local.mk", true),
            ("requirements-dev.txt", true),
            ("src/lib.rs", false),
            ("src/build.rs", false),
            ("src/setup.js", false),
            ("src/spec.js", false),
            ("app/config.py", false),
            ("data/cases.json", false),
        ] {
            assert_eq!(is_looked_for(path), expected, "{path}");
        }
        assert!(
            is_hidden(".github/workflows/ci.yml") && is_hidden("a/.env") && !is_hidden("a/b.c")
        );
    }
}
