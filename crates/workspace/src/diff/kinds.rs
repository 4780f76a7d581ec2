//! What a file is for, by its name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::walk::{as_path, split};

/// Names of files that are code: their lines are shown whatever else is in them.
const CODE: &[&str] = &[
    "bash", "bat", "c", "cc", "cjs", "clj", "cpp", "cs", "css", "cts", "dart", "ex", "exs", "go",
    "gradle", "groovy", "h", "hpp", "hs", "html", "java", "jl", "js", "json", "jsx", "kt", "kts",
    "lua", "md", "mjs", "mk", "ml", "mts", "nix", "php", "pl", "ps1", "py", "pyi", "r", "rb", "rs",
    "scala", "sh", "sql", "svelte", "swift", "toml", "ts", "tsx", "vue", "yaml", "yml", "zig",
];

/// Names of files that people seldom write by hand.
const DATA: &[&str] = &[
    "bin", "bmp", "csv", "dat", "db", "geojson", "gif", "gz", "ico", "ipynb", "jpeg", "jpg",
    "json", "jsonl", "lock", "log", "map", "ndjson", "parquet", "pdf", "png", "po", "pot", "snap",
    "sqlite", "sum", "svg", "tar", "tsv", "ttf", "wasm", "webp", "woff", "woff2", "xml", "zip",
];

/// Names of data that decides what is built and run.
const SETTINGS: &[&str] = &["package.json", "composer.json", "deno.json", "pom.xml"];

/// Whether a file is code by its name.
pub(crate) fn is_code(path: &[u8]) -> bool {
    extension(path).is_some_and(|found| CODE.contains(&&found[..]))
}

/// Whether a file is data by its name, and not source, tests or settings.
pub(crate) fn is_data(path: &[u8]) -> bool {
    let name = String::from_utf8_lossy(split(path).1).to_lowercase();
    let is_settings = SETTINGS.contains(&&name[..]) || name.ends_with("config.json");
    let is_made = [".min.js", ".min.css", "-lock.yaml"]
        .iter()
        .any(|end| name.ends_with(end));
    let is_data = extension(path).is_some_and(|found| DATA.contains(&&found[..]));
    is_made || (is_data && !is_settings)
}

fn extension(path: &[u8]) -> Option<String> {
    let found = as_path(path).extension().map(OsStr::as_bytes)?;
    Some(String::from_utf8_lossy(found).to_lowercase())
}
