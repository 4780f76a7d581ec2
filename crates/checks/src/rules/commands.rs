//! What check commands name: programs, modules, files, scripts of `package.json`, through scripts and recipes.

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
    /// Words that may be files of the project.
    pub(super) files: BTreeSet<String>,
    /// Scripts of `package.json`.
    pub(super) scripts: BTreeSet<String>,
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
        programs.iter().any(|program| self.programs.contains(*program))
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
        for program in [call.words.first().map(String::as_str), words.first().copied()].into_iter().flatten()
        {
            self.programs.insert(program.rsplit('/').next().unwrap_or(program).to_owned());
        }
        let dash_m = all.clone().zip(all.clone().skip(1)).filter(|(flag, _)| *flag == "-m");
        self.modules.extend(dash_m.map(|(_, module)| module.split('.').next().unwrap_or(module).to_owned()));
        if let Some(script) = package_script(&words) {
            self.script(script, tree, folder, depth);
        } else if direct(&words).is_some() {
            self.config_files(&words, folder);
        } else if let Some((text, folder)) = task_recipe(tree, folder, &words) {
            if depth < DEPTH_MAX {
                self.line(&text, tree, &folder, depth + 1);
            }
        } else {
            self.word_files(&words, tree, folder, depth);
        }
    }

    /// A runner's own words are tests; only its configuration is named by options.
    fn config_files(&mut self, words: &[&str], folder: &str) {
        for (at, word) in words.iter().enumerate() {
            let value = match word.split_once('=') {
                Some(("--config" | "--project" | "--rcfile" | "--config-file" | "--config-path", value)) => {
                    Some(value)
                }
                _ if ["-c", "--config", "--project", "--rcfile", "--config-file", "--config-path"]
                    .contains(word) =>
                {
                    words.get(at + 1).copied()
                }
                _ => None,
            };
            self.files.extend(value.map(|value| join(folder, value)));
        }
    }

    fn word_files(&mut self, words: &[&str], tree: &dyn Tree, folder: &str, depth: usize) {
        for word in words {
            let value = word.rsplit('=').next().unwrap_or(word);
            let path = join(folder, value);
            let is_new = self.files.insert(path.clone());
            let is_script = ["sh", "bash", ""].contains(&crate::text::extension(&path));
            let is_text = |text: &String| text.starts_with("#!") || path.ends_with("sh");
            let follows = is_new && is_script && depth < DEPTH_MAX;
            if let Some(text) = tree.read(&path).filter(|text| follows && is_text(text)) {
                self.line(&text, tree, folder, depth + 1);
            }
        }
    }

    fn script(&mut self, script: &str, tree: &dyn Tree, folder: &str, depth: usize) {
        if !self.scripts.insert(script.to_owned()) || depth >= DEPTH_MAX {
            return;
        }
        for name in [script.to_owned(), format!("pre{script}"), format!("post{script}")] {
            self.scripts.insert(name.clone());
            if let Some(text) = script_text(tree, folder, &name) {
                self.line(&text, tree, folder, depth + 1);
            }
        }
    }
}
