//! Which test runner a command calls, through package managers, task runners and scripts.

use crate::shell::{Call, Line, parse};
use crate::tree::Tree;

/// A program that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Runner {
    Cargo,
    Nextest,
    Go,
    Pytest,
    Tox,
    Vitest,
    Jest,
    Mocha,
    Node,
    Bun,
}

/// How a runner was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The call itself.
    Directly(Runner),
    /// Through a package manager's script; arguments can be handed on where the runner is the last
    /// that it calls.
    ByScript {
        runner: Runner,
        takes_arguments: bool,
    },
    /// From within a recipe or a script: only the environment reaches it.
    Within(Runner),
}

impl Reached {
    pub(crate) fn runner(&self) -> Runner {
        match self {
            Reached::Directly(runner)
            | Reached::Within(runner)
            | Reached::ByScript { runner, .. } => *runner,
        }
    }
}

/// Deepest chain of scripts that is followed.
const DEPTH_MAX: usize = 4;
/// Longest script that is looked into.
const SCRIPT_BYTES_MAX: usize = 64 << 10;

/// Every runner that a command line reaches, each with the index of its call.
pub(crate) fn runners(line: &Line, tree: &dyn Tree) -> Vec<(usize, Reached)> {
    in_line(line, tree, "", 0)
}

fn in_line(line: &Line, tree: &dyn Tree, folder: &str, depth: usize) -> Vec<(usize, Reached)> {
    let mut folder = folder.to_owned();
    let mut found = Vec::new();
    for (index, call) in line.calls.iter().enumerate() {
        if call.words[0] == "cd" {
            if let Some(to) = call.words.get(1) {
                folder = join(&folder, to);
            }
            continue;
        }
        found.extend(
            in_call(call, tree, &folder, depth)
                .into_iter()
                .map(|reached| (index, reached)),
        );
    }
    found
}

fn in_call(call: &Call, tree: &dyn Tree, folder: &str, depth: usize) -> Vec<Reached> {
    let words: Vec<&str> = unwrapped(&call.words);
    if let Some(runner) = direct(&words) {
        return vec![Reached::Directly(runner)];
    }
    if depth >= DEPTH_MAX {
        return Vec::new();
    }
    if let Some(script) = package_script(&words) {
        return by_script(tree, folder, script, depth);
    }
    let within = |text: &str| {
        let line = parse(text);
        in_line(&line, tree, folder, depth + 1)
            .into_iter()
            .map(|(_, found)| Reached::Within(found.runner()))
            .collect()
    };
    if let Some((text, folder)) = task_recipe(tree, folder, &words) {
        let found = in_line(&parse(&text), tree, &folder, depth + 1);
        return found
            .into_iter()
            .map(|(_, found)| Reached::Within(found.runner()))
            .collect();
    }
    match words.split_first() {
        Some((program, rest)) => {
            let is_shell = ["sh", "bash", "dash", "zsh"].contains(program);
            let script = if is_shell {
                rest.iter().find(|word| !word.starts_with('-')).copied()
            } else {
                Some(*program)
            };
            let text = script
                .filter(|path| path.contains(['/', '.']))
                .and_then(|path| tree.read(&join(folder, path)));
            text.filter(|text| text.len() <= SCRIPT_BYTES_MAX && is_shell_text(text, is_shell))
                .map_or(Vec::new(), |text| within(&text))
        }
        None => Vec::new(),
    }
}

fn is_shell_text(text: &str, is_shell: bool) -> bool {
    let first = text.lines().next().unwrap_or("");
    is_shell || (first.starts_with("#!") && first.trim_end().ends_with("sh"))
}

fn after<'a>(words: &[&'a str], flag: &str) -> Option<&'a str> {
    words
        .iter()
        .position(|word| *word == flag)
        .and_then(|at| words.get(at + 1))
        .copied()
}

pub(crate) fn join(folder: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.trim_end_matches('/').to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            (part, _) => parts.push(part),
        }
    }
    parts.join("/")
}

/// Programs that start the one that is named after them.
const STARTERS: [&str; 11] = [
    "env",
    "time",
    "nice",
    "command",
    "exec",
    "npx",
    "bunx",
    "pnpx",
    "xvfb-run",
    "dotenv",
    "cross-env",
];

/// Takes off programs that only start another one.
pub(crate) fn unwrapped(words: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..DEPTH_MAX {
        let mut bare = words.clone();
        if let Some(program) = bare.first_mut() {
            *program = program.rsplit('/').next().unwrap_or(program);
        }
        let n = match bare.as_slice() {
            ["yarn" | "pnpm", "vitest" | "jest" | "mocha", ..] => 1,
            [program, ..] if STARTERS.contains(program) => 1,
            ["timeout", ..] => 1,
            [
                "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch",
                "run",
                ..,
            ]
            | ["pnpm" | "yarn" | "npm" | "bun", "exec" | "x" | "dlx", ..]
            | [
                "python" | "python3" | "py",
                "-m",
                "pytest" | "tox" | "nox",
                ..,
            ] => 2,
            ["coverage", "run", "-m", ..] => 3,
            [
                "python" | "python3" | "py",
                "-m",
                "coverage",
                "run",
                "-m",
                ..,
            ] => 5,
            _ => break,
        };
        let is_fetched = matches!(bare.as_slice(), ["npx" | "bunx" | "pnpx", ..]);
        let starter = bare[0];
        words.drain(..n.min(words.len()));
        drop_options(starter, &mut words);
        if starter == "timeout" && !words.is_empty() {
            // How long it may take.
            words.remove(0);
        }
        if let Some(package) = words.first_mut().filter(|_| is_fetched) {
            *package = program_of(package);
        }
    }
    words
}

/// Takes off what a starter is told itself: its options, with the word that follows some of them, and
/// variables.
fn drop_options(starter: &str, words: &mut Vec<&str>) {
    let with_value: &[&str] = match starter {
        "env" => &["-u", "--unset"],
        "nice" => &["-n", "--adjustment"],
        "timeout" => &["-k", "--kill-after", "-s", "--signal"],
        _ => &[],
    };
    while let Some(word) = words.first().copied() {
        if !word.starts_with('-') && !word.contains('=') {
            return;
        }
        let n = if with_value.contains(&word) { 2 } else { 1 };
        words.drain(..n.min(words.len()));
    }
}

/// The program of a package that is fetched, without its version.
fn program_of(package: &str) -> &str {
    match package.rsplit_once('@') {
        Some(("@yarnpkg/cli-dist", _)) => "yarn",
        Some((name, _)) if !name.is_empty() => name,
        Some(_) | None if package == "@yarnpkg/cli-dist" => "yarn",
        Some(_) | None => package,
    }
}

/// The runner that words call themselves.
pub(crate) fn direct(words: &[&str]) -> Option<Runner> {
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let without_toolchain: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !word.starts_with('+'))
        .collect();
    match (program, without_toolchain.as_slice()) {
        ("cargo", ["test" | "t", ..]) => Some(Runner::Cargo),
        ("cargo", ["nextest", "run" | "r", ..]) | ("cargo-nextest", ["nextest", "run", ..]) => {
            Some(Runner::Nextest)
        }
        ("go", ["test", ..]) => Some(Runner::Go),
        ("pytest" | "py.test", _) => Some(Runner::Pytest),
        ("tox" | "nox", _) => Some(Runner::Tox),
        ("vitest", ["bench" | "list" | "init", ..]) => None,
        ("vitest", _) => Some(Runner::Vitest),
        ("jest", _) => Some(Runner::Jest),
        ("mocha" | "_mocha", _) => Some(Runner::Mocha),
        ("bun", ["test", ..]) => Some(Runner::Bun),
        ("node" | "tsx", rest) if rest.contains(&"--test") => Some(Runner::Node),
        _ => None,
    }
}

/// The script of `package.json` that words run.
pub(crate) fn package_script<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (manager, rest) = words.split_first()?;
    let rest: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    match (*manager, rest.as_slice()) {
        ("npm" | "pnpm" | "yarn", ["test" | "t" | "tst", ..]) => Some("test"),
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script", script, ..]) => Some(script),
        ("pnpm" | "yarn", [script, ..]) if !["install", "add", "ci", "build"].contains(script) => {
            Some(script)
        }
        _ => None,
    }
}

/// The text of a script of `package.json`.
pub(crate) fn script_text(tree: &dyn Tree, folder: &str, script: &str) -> Option<String> {
    let manifest: serde_json::Value =
        serde_json::from_str(&tree.read(&join(folder, "package.json"))?).ok()?;
    Some(manifest.get("scripts")?.get(script)?.as_str()?.to_owned())
}

fn by_script(tree: &dyn Tree, folder: &str, script: &str, depth: usize) -> Vec<Reached> {
    let Some(text) = script_text(tree, folder, script) else {
        return Vec::new();
    };
    let line = parse(&text);
    let last = line.calls.len().saturating_sub(1);
    let found = in_line(&line, tree, folder, depth + 1);
    found
        .into_iter()
        .map(|(index, reached)| Reached::ByScript {
            runner: reached.runner(),
            takes_arguments: line.is_plain
                && index == last
                && matches!(reached, Reached::Directly(_)),
        })
        .collect()
}

/// What a call of make or just runs, and in which folder.
pub(crate) fn task_recipe(
    tree: &dyn Tree,
    folder: &str,
    words: &[&str],
) -> Option<(String, String)> {
    let (program, rest) = words.split_first()?;
    let (files, folder): (&[&str], String) = match *program {
        "make" | "gmake" => {
            let folder = after(rest, "-C").map_or(folder.to_owned(), |to| join(folder, to));
            (&["GNUmakefile", "makefile", "Makefile"], folder)
        }
        "just" => (&["justfile", "Justfile", ".justfile"], folder.to_owned()),
        _ => return None,
    };
    Some((recipe(tree, &folder, rest, files)?, folder))
}

/// The recipe of the first target that is named, with those of the targets that it needs.
fn recipe(tree: &dyn Tree, folder: &str, words: &[&str], files: &[&str]) -> Option<String> {
    let text = files
        .iter()
        .find_map(|file| tree.read(&join(folder, file)))?;
    let target = words
        .iter()
        .find(|word| !word.starts_with('-') && !word.contains('='));
    let mut wanted = vec![(*target.unwrap_or(&"")).to_owned()];
    let mut out = String::new();
    let mut at = 0;
    while at < wanted.len() && at < 16 {
        let (needs, lines) = target_of(&text, &wanted[at]);
        out += &lines;
        wanted.extend(needs.into_iter().filter(|need| !need.is_empty()));
        at += 1;
    }
    Some(out)
}

/// What a target needs, and its lines. Without a name it is the first one.
fn target_of(text: &str, name: &str) -> (Vec<String>, String) {
    let mut needs = Vec::new();
    let mut lines = String::new();
    let mut is_in = false;
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        if is_indented && is_in {
            lines += line.trim_start().trim_start_matches(['@', '-', '+']);
            lines.push('\n');
        } else if !is_indented
            && let Some((head, rest)) = line
                .split_once(':')
                .filter(|_| !line.starts_with(['#', '.']))
        {
            let is_rule = !rest.starts_with('=');
            let mut heads = head.split_whitespace();
            is_in = is_rule
                && if name.is_empty() {
                    lines.is_empty() && needs.is_empty()
                } else {
                    heads.any(|head| head == name)
                };
            if is_in {
                needs.extend(rest.split_whitespace().take(16).map(str::to_owned));
            }
        }
    }
    (needs, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_behind_what_starts_it() {
        for line in [
            "env -u CI --unset GITHUB_ACTIONS MODE=1 vitest run",
            "env -i vitest run",
            "timeout 60 vitest run",
            "timeout -k 5 --signal INT 60 nice -n 5 vitest run",
            "timeout --kill-after=5 60 npx --yes vitest run",
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(unwrapped(&words), ["vitest", "run"], "{line}");
        }
        assert!(unwrapped(&["timeout".to_owned()]).is_empty());
    }
}
