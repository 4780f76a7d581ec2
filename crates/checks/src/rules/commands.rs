//! What check commands name: programs, modules, files, scripts of `package.json`, through scripts
//! and recipes.

use std::collections::BTreeSet;

use crate::runner::{direct, join, package_script, script_text, task_recipe, unwrapped};
use crate::shell::{Call, parse};
use crate::tree::Tree;

/// Everything that commands name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Programs by their bare names.
    pub(super) programs: BTreeSet<String>,
    /// Modules that Python is told to run.
    pub(super) modules: BTreeSet<String>,
    /// Scripts of the project that check, and configuration that is named by an option.
    pub(super) files: BTreeSet<String>,
    /// Scripts of `package.json`.
    pub(super) scripts: BTreeSet<String>,
    /// Files of the project that commands run, whatever they are called.
    pub(super) runs: BTreeSet<String>,
}

/// Deepest chain that is followed, and most names that are kept.
const DEPTH_MAX: usize = 4;
const NAMES_MAX: usize = 2_000;

/// Collects what commands name in a tree.
pub(super) fn named(commands: &[&str], tree: &dyn Tree) -> Named {
    let mut named = Named::default();
    for command in commands {
        named.line(command, tree, "", 0);
    }
    named
}

impl Named {
    pub(super) fn calls(&self, programs: &[&str]) -> bool {
        programs
            .iter()
            .any(|program| self.programs.contains(*program))
    }

    fn line(&mut self, command: &str, tree: &dyn Tree, folder: &str, depth: usize) {
        let mut folder = folder.to_owned();
        for call in &parse(command).calls {
            if call.words[0] == "cd" {
                if let Some(to) = call.words.get(1) {
                    folder = join(&folder, to);
                }
            } else if self.files.len() < NAMES_MAX {
                self.call(call, tree, &folder, depth);
            }
        }
    }

    fn call(&mut self, call: &Call, tree: &dyn Tree, folder: &str, depth: usize) {
        let words = unwrapped(&call.words);
        let all = call.words.iter().map(String::as_str);
        for program in [
            call.words.first().map(String::as_str),
            words.first().copied(),
        ]
        .into_iter()
        .flatten()
        {
            self.programs
                .insert(program.rsplit('/').next().unwrap_or(program).to_owned());
        }
        let dash_m = all
            .clone()
            .zip(all.clone().skip(1))
            .filter(|(flag, _)| *flag == "-m");
        self.modules.extend(
            dash_m.map(|(_, module)| module.split('.').next().unwrap_or(module).to_owned()),
        );
        if let Some(script) = package_script(&words) {
            self.script(script, tree, folder, depth);
        } else if direct(&words).is_some() {
            self.config_files(&words, folder);
        } else if let Some((text, folder)) = task_recipe(tree, folder, &words) {
            if depth < DEPTH_MAX {
                self.line(&text, tree, &folder, depth + 1);
            }
        } else {
            self.config_files(&words, folder);
            self.script_file(&words, tree, folder, depth);
        }
    }

    /// A runner's own words are tests; only its configuration is named by options.
    fn config_files(&mut self, words: &[&str], folder: &str) {
        for (at, word) in words.iter().enumerate() {
            let value = match word.split_once('=') {
                Some((
                    "--config" | "--project" | "--rcfile" | "--config-file" | "--config-path",
                    value,
                )) => Some(value),
                _ if [
                    "-c",
                    "--config",
                    "--project",
                    "--rcfile",
                    "--config-file",
                    "--config-path",
                ]
                .contains(word) =>
                {
                    words.get(at + 1).copied()
                }
                _ => None,
            };
            self.files.extend(value.map(|value| join(folder, value)));
        }
    }

    /// The script that words run, if its name says that it checks. What else a check runs or reads
    /// is what it checks: `python3 main.py | grep -q hello` must see the candidate's `main.py`.
    fn script_file(&mut self, words: &[&str], tree: &dyn Tree, folder: &str, depth: usize) {
        let Some(path) = script_of(words).map(|word| join(folder, word)) else {
            return;
        };
        self.runs.insert(path.clone());
        if !says_that_it_checks(&path) || !self.files.insert(path.clone()) || depth >= DEPTH_MAX {
            return;
        }
        let is_shell = ["sh", "bash", ""].contains(&crate::text::extension(&path));
        if let Some(text) = tree
            .read(&path)
            .filter(|text| is_shell && (text.starts_with("#!") || path.ends_with("sh")))
        {
            self.line(&text, tree, folder, depth + 1);
        }
    }

    fn script(&mut self, script: &str, tree: &dyn Tree, folder: &str, depth: usize) {
        if !self.scripts.insert(script.to_owned()) || depth >= DEPTH_MAX {
            return;
        }
        for name in [
            script.to_owned(),
            format!("pre{script}"),
            format!("post{script}"),
        ] {
            self.scripts.insert(name.clone());
            if let Some(text) = script_text(tree, folder, &name) {
                self.line(&text, tree, folder, depth + 1);
            }
        }
    }
}

/// The file that words run: the program itself where it is one of the project's, or what an
/// interpreter is given.
fn script_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    const INTERPRETERS: [&str; 20] = [
        "sh", "bash", "dash", "zsh", "ksh", "fish", ".", "source", "python", "python3", "py",
        "node", "deno", "bun", "tsx", "ts-node", "ruby", "perl", "php", "Rscript",
    ];
    let (program, rest) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if INTERPRETERS.contains(&name) {
        return rest
            .iter()
            .copied()
            .find(|word| !word.starts_with('-') && *word != "run");
    }
    (program.contains('/') && !program.starts_with('/')).then_some(*program)
}

/// Whether a path has a word in it that only things which check have.
pub(super) fn says_that_it_checks(path: &str) -> bool {
    const WORDS: [&str; 12] = [
        "test", "tests", "spec", "specs", "check", "checks", "lint", "verify", "validate", "ci",
        "tap", "e2e",
    ];
    let lower = path.to_lowercase();
    lower
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|word| {
            WORDS.contains(&word)
                || word
                    .strip_prefix("run")
                    .is_some_and(|rest| WORDS.contains(&rest))
        })
}
