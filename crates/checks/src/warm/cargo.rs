//! What cargo built of crates that are not the project's own.
//!
//! Cargo knows such a crate by its source, version, features, profile and flags, and never looks at
//! its files again. So manifests and lock files may differ: cargo builds what is new. What a lock file no
//! longer names stays where it was, so that a tree which lost a package is another matter (`lock`). Everything whose
//! manifest lies in the tree is the project's own, vendored crates too; what may be kept of it is told by
//! the module `own`.

use super::model::{Cold, Files, Named, Recipe, placed};
use super::own::may_read_more;
use crate::shell::{Call, parse, quote};
use crate::tree::Tree;

/// What cargo does, if nothing else is asked of it, with its own packages and those of others alone.
const COMPILING: [&str; 4] = ["check", "clippy", "build", "test"];

/// Options of `cargo test` that choose what is run and not what is compiled.
const UNCOMPILED: [&str; 2] = ["--doc", "--no-run"];

pub(super) fn add(
    tree: &dyn Tree,
    files: &Files,
    subdir: &str,
    checks: &[Named<'_>],
    recipe: &mut Recipe,
) -> Result<(), Cold> {
    if !tree.has(&placed(subdir, "Cargo.toml")) {
        return Err(Cold::NothingToReuse);
    }
    let mut builds = Vec::new();
    for check in checks.iter().filter(|check| check.name != "setup") {
        builds.extend(compile_only(check.command)?);
    }
    if builds.is_empty() {
        return Err(Cold::NothingToReuse);
    }
    let is_configuration = |path: &str| {
        ["config", "config.toml"].iter().any(|name| {
            let tail = format!(".cargo/{name}");
            path == tail || path.ends_with(&format!("/{tail}"))
        })
    };
    let configurations = files.paths.iter().filter(|path| is_configuration(path));
    let mut keeps_own = tree.has(&placed(subdir, "Cargo.lock")) && !reads_more(checks);
    for path in configurations {
        let text = tree.read(path).unwrap_or_default();
        // Where cargo builds is then not ours to say, and a wrapper may reuse what it likes.
        for key in [
            "target-dir",
            "build-dir",
            "rustc-wrapper",
            "rustc-workspace-wrapper",
        ] {
            if text.contains(key) {
                return Err(Cold::Depends(format!("`{key}` in {path}")));
            }
        }
        // Flags may name files of which the compiler does not say that it read them.
        let has_flags = ["rustflags", "linker", "rustc"]
            .iter()
            .any(|key| text.contains(key));
        keeps_own &= !has_flags;
        recipe.fixed.push(path.clone());
    }
    let fixed = files.named(|name| ["rust-toolchain", "rust-toolchain.toml"].contains(&name));
    recipe.fixed.extend(fixed);
    let noticed = files.named(|name| ["Cargo.toml", "Cargo.lock"].contains(&name));
    recipe.noticed.extend(noticed);
    recipe.builds.extend(builds);
    recipe.cargo_target = Some(placed(subdir, "target"));
    recipe.keeps_own = keeps_own;
    Ok(())
}

/// Whether a setup only fetches what the lock file names.
pub(super) fn is_fetch(command: &str) -> bool {
    let line = parse(command);
    let fetches = |call: &Call| {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        matches!(&words[..], ["cargo", "fetch", options @ ..]
            if options.iter().all(|option| ["--locked", "--offline", "--frozen"].contains(option)))
    };
    line.is_plain && !line.calls.is_empty() && line.calls.iter().all(fetches)
}

/// Whether a command sets flags by which the compiler may read more than it says.
fn reads_more(checks: &[Named<'_>]) -> bool {
    let calls = checks.iter().flat_map(|check| parse(check.command).calls);
    let mut assignments = calls.flat_map(|call| call.assignments);
    assignments.any(|assignment| {
        let (name, value) = assignment.split_once('=').unwrap_or((&assignment, ""));
        may_read_more(name, value)
    })
}

/// The commands that compile what a check would compile, and run nothing of it.
fn compile_only(command: &str) -> Result<Vec<String>, Cold> {
    let unknown = || Cold::UnknownTool(command.to_owned());
    let line = parse(command);
    if !line.is_plain || line.calls.is_empty() {
        return Err(unknown());
    }
    let mut builds = Vec::new();
    for call in &line.calls {
        builds.extend(compiled(call).ok_or_else(unknown)?);
    }
    Ok(builds)
}

/// The form of one call that only compiles: none where it compiles nothing, and nothing at all where
/// nobody knows the call.
#[expect(
    clippy::option_option,
    reason = "unknown and nothing to compile are two things"
)]
fn compiled(call: &Call) -> Option<Option<String>> {
    let mut words = call.words.iter().map(String::as_str);
    if words.next() != Some("cargo") {
        return None;
    }
    let mut words: Vec<&str> = words.collect();
    let toolchain = words.first().filter(|word| word.starts_with('+')).copied();
    if toolchain.is_some() {
        words.remove(0);
    }
    let (subcommand, mut rest) = (*words.first()?, words[1..].to_vec());
    // What follows goes to the program that is run, or to the linter.
    let tail = rest.iter().position(|word| *word == "--");
    let tail = tail.map(|at| rest.split_off(at)).unwrap_or_default();
    let leads_elsewhere = |word: &&str| {
        ["--target-dir", "--manifest-path", "--config", "-C"]
            .iter()
            .any(|option| word == option || word.starts_with(&format!("{option}=")))
    };
    if rest.iter().any(leads_elsewhere) {
        return None;
    }
    let mut out: Vec<&str> = vec!["cargo"];
    out.extend(toolchain);
    match subcommand {
        "fmt" => return Some(None),
        "test" if rest.iter().any(|word| UNCOMPILED.contains(word)) => return Some(None),
        "test" => {
            // A name chooses which tests are run; all of them are compiled.
            out.push("test");
            out.extend(rest);
            out.push("--no-run");
        }
        "nextest" if rest.first() == Some(&"run") => {
            out.extend(["nextest", "run"]);
            out.extend(&rest[1..]);
            out.push("--no-run");
        }
        other if COMPILING.contains(&other) => {
            out.push(other);
            out.extend(rest);
            out.extend(tail);
        }
        _ => return None,
    }
    let line: Vec<String> = out.into_iter().map(quote).collect();
    let before = call.assignments.iter().map(|word| quote_value(word) + " ");
    Some(Some(before.collect::<String>() + &line.join(" ")))
}

fn quote_value(assignment: &str) -> String {
    let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
    format!("{name}={}", quote(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compiles_runs_nothing() {
        for (command, expected) in [
            ("cargo test", Some("cargo test --no-run")),
            (
                "cargo test --workspace some_test -- --nocapture",
                Some("cargo test --workspace some_test --no-run"),
            ),
            (
                "RUSTFLAGS='-D warnings' cargo +stable clippy --all-targets -- -D warnings",
                Some("RUSTFLAGS='-D warnings' cargo +stable clippy --all-targets -- -D warnings"),
            ),
            ("cargo fmt --check && cargo check", Some("cargo check")),
            (
                "cargo nextest run --profile ci -- --skip slow",
                Some("cargo nextest run --profile ci --no-run"),
            ),
            ("cargo test --doc", Some("")),
            ("cargo run --example all", None),
            ("cargo xtask ci", None),
            ("cargo test | tee log", None),
            ("cargo test --target-dir /tmp/x", None),
            ("make test", None),
            ("cargo test && ./smoke.sh", None),
        ] {
            let found = compile_only(command).ok().map(|lines| lines.join("\n"));
            assert_eq!(found.as_deref(), expected, "{command}");
        }
    }
}
