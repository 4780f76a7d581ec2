//! What a project's harness loads: the files that the base's check commands, its configuration and
//! its scripts name or import.
//!
//! References are followed in the base alone, since what a candidate adds to them is a change of the
//! harness itself. A file that the base's tests import is what they test, and no harness.

use std::collections::{BTreeSet, VecDeque};

use super::commands::named;
use super::computed::computed_folders;
use super::kinds::{is_document, is_looked_for, is_source};
use super::test_paths::TestPaths;
use crate::runner::join;
use crate::text::{extension, head};
use crate::tree::Tree;

/// Most files that are followed, and most bytes of one that are looked at.
const FILES_MAX: usize = 400;
const FILE_BYTES_MAX: usize = 256 * 1024;
/// Most files of a project whose names are known.
const LISTED_MAX: usize = 50_000;

/// Configuration that lies in folders of its own.
const HIDDEN: [&str; 4] = [
    ".cargo/config.toml",
    ".cargo/config",
    ".config/nextest.toml",
    ".husky/pre-commit",
];

/// The files that a harness loads, and names that it would load if they were there.
#[derive(Clone, Debug, Default)]
pub(super) struct Harness {
    loaded: BTreeSet<String>,
    named: BTreeSet<String>,
    /// Files whose texts tell what is read: the harness itself and the tests.
    pub(super) readers: Vec<String>,
    /// Names of modules that the base's tests import, without folders and ends.
    pub(super) imported: BTreeSet<String>,
    /// All files of the base, by name.
    pub(super) files: Vec<String>,
    /// Folders whose files scripts of the harness read in, whatever they are called.
    listed: BTreeSet<String>,
    /// Folders whose files it carries out under names that nobody can read in it.
    computed: BTreeSet<String>,
}

impl Harness {
    /// The harness of these commands in the base.
    pub(super) fn of(commands: &[&str], base: &dyn Tree, tests: &TestPaths) -> Self {
        let files = all_files(base);
        let test_files: Vec<&String> = files.iter().filter(|file| tests.is_test(file)).collect();
        let imported = imported_by_tests(base, &test_files);
        let commanded = named(commands, base);
        let mut search = Search {
            base,
            tests,
            files: &files,
            imported: &imported,
            scripts: commanded.scripts.clone(),
            found: Self::default(),
            open: VecDeque::new(),
        };
        let at_top = base.list("").into_iter().filter(|name| is_looked_for(name));
        let hidden = HIDDEN
            .iter()
            .filter(|file| base.has(file))
            .map(|file| (*file).to_owned());
        for seed in commanded.files.into_iter().chain(at_top).chain(hidden) {
            search.load(seed);
        }
        // A program without an extension looks like no file to whoever only reads the command.
        for path in &commanded.runs {
            search.refer("", path);
        }
        let conftests = test_files
            .iter()
            .filter(|file| file.ends_with("conftest.py"));
        search.open.extend(conftests.map(|file| (*file).clone()));
        for command in commands {
            search.texts("", command);
        }
        search.follow();
        let mut found = search.found;
        found.listed = listed_folders(base, &found.loaded);
        let conftests = test_files.iter().map(|file| file.as_str());
        let conftests = conftests.filter(|file| file.ends_with("conftest.py"));
        let loaded = found.loaded.iter().map(String::as_str);
        found.computed = loaded
            .chain(conftests)
            .filter_map(|path| Some((path, base.read(path)?)))
            .flat_map(|(path, text)| {
                let own = path.rsplit_once('/').map_or("", |(own, _)| own).to_owned();
                let folders = computed_folders(path, head(&text, FILE_BYTES_MAX));
                // Some name it from the top, some from where they lie.
                folders
                    .into_iter()
                    .flat_map(move |folder| [join("", &folder), join(&own, &folder)])
            })
            .collect();
        // What the tests themselves use is what they test.
        let is_tested = |folder: &String| {
            let mut inside = files.iter().filter(|file| is_in(file, folder));
            inside.any(|file| imported.contains(&stem_of(file)))
        };
        found.listed.retain(|folder| !is_tested(folder));
        found.computed.retain(|folder| !is_tested(folder));
        found.readers = found.loaded.iter().cloned().collect();
        found.readers.extend(test_files.into_iter().cloned());
        found.imported = imported;
        found.files = files;
        found
    }

    /// Says whether the harness would load a new file because of the folder that it lies in.
    pub(super) fn lists(&self, path: &str) -> bool {
        self.listed.iter().any(|folder| is_in(path, folder))
    }

    /// Says whether the base's tests import a file.
    pub(super) fn is_imported(&self, path: &str) -> bool {
        self.imported.contains(&stem_of(path))
    }

    /// Says whether the harness loads a file, or would if it were there.
    pub(super) fn loads(&self, path: &str) -> bool {
        let is_computed = || {
            let mut folders = self.computed.iter();
            is_source(path) && folders.any(|folder| is_in(path, folder))
        };
        self.loaded.contains(path) || self.named.contains(path) || is_computed()
    }
}

/// Says whether a file lies in a folder, and in none below it.
fn is_in(path: &str, folder: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(own, _)| own == folder)
}

/// Folders of patterns such as `scripts/lib/*.sh` in the shell scripts of a harness.
fn listed_folders(base: &dyn Tree, loaded: &BTreeSet<String>) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for path in loaded.iter().filter(|path| is_shell(path)) {
        let text = base.read(path).unwrap_or_default();
        let words = head(&text, FILE_BYTES_MAX).split_whitespace();
        for word in words.filter_map(|word| word.split_once("/*").map(|(folder, _)| folder)) {
            let folder = word.trim_start_matches(['"', '\'', '.', '/', '$', '(', '{']);
            folders.insert(folder.trim_end_matches(['"', '\'']).to_owned());
        }
    }
    folders.retain(|folder| !folder.is_empty());
    folders
}

/// The files of a project, by name, within bounds.
fn all_files(tree: &dyn Tree) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = VecDeque::from([String::new()]);
    while let Some(folder) = folders.pop_front() {
        for name in tree.list(&folder) {
            let path = join(&folder, &name);
            if name.ends_with('/') {
                folders.push_back(path);
            } else if files.len() < LISTED_MAX {
                files.push(path);
            }
        }
    }
    files
}

/// The modules and files that the base's tests import: what is tested.
fn imported_by_tests(base: &dyn Tree, tests: &[&String]) -> BTreeSet<String> {
    const TESTS_MAX: usize = 2_000;
    let mut imported = BTreeSet::new();
    for path in tests.iter().take(TESTS_MAX) {
        let Some(text) = base.read(path) else {
            continue;
        };
        let text = head(&text, FILE_BYTES_MAX);
        imported.extend(programs(text).into_iter().map(|program| stem_of(&program)));
        imported.extend(
            modules(path, text)
                .into_iter()
                .map(|module| stem_of(&module)),
        );
    }
    imported
}

struct Search<'a> {
    base: &'a dyn Tree,
    tests: &'a TestPaths,
    files: &'a [String],
    imported: &'a BTreeSet<String>,
    /// Scripts of `package.json` that the checks call.
    scripts: BTreeSet<String>,
    found: Harness,
    open: VecDeque<String>,
}

impl Search<'_> {
    fn load(&mut self, path: String) {
        if self.found.loaded.len() < FILES_MAX && self.found.loaded.insert(path.clone()) {
            self.open.push_back(path);
        }
    }

    fn follow(&mut self) {
        let mut n_followed = 0;
        while let Some(path) = self.open.pop_front() {
            n_followed += 1;
            let Some(text) = self.base.read(&path).filter(|_| n_followed < FILES_MAX) else {
                continue;
            };
            let text = head(&text, FILE_BYTES_MAX);
            let folder = path
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder)
                .to_owned();
            let is_conftest = path.ends_with("conftest.py");
            if !is_conftest && is_source(&path) && !is_shell(&path) {
                for module in modules(&path, text) {
                    self.refer(&folder, &module);
                }
            }
            match path.rsplit('/').next().unwrap_or(&path) {
                "package.json" => self.texts(&folder, &package_words(text, &self.scripts)),
                "Cargo.toml" | "Cargo.lock" | "package-lock.json" => {}
                "conftest.py" => self.plugins(text),
                _ => {
                    self.plugins(text);
                    self.texts(&folder, text);
                }
            }
        }
    }

    /// Everything in a text that looks like a file's name.
    fn texts(&mut self, folder: &str, text: &str) {
        self.plugins(text);
        let is_part = |letter: char| letter.is_alphanumeric() || "._/-@+".contains(letter);
        for word in text.split(|letter: char| !is_part(letter)) {
            let word = word.trim_matches(['.', '/', '-', '@', '+']);
            let name = word.rsplit('/').next().unwrap_or(word);
            if name.contains('.') && word.len() < 300 && !is_document(word) {
                self.refer(folder, word);
            }
        }
    }

    /// Modules that pytest is told to load.
    fn plugins(&mut self, text: &str) {
        for (mark, _) in text
            .match_indices("-p")
            .chain(text.match_indices("pytest_plugins"))
        {
            let rest = text[mark..].trim_start_matches("pytest_plugins");
            let rest = rest.trim_start_matches("-p");
            let line = head(rest.lines().next().unwrap_or(""), 400);
            let is_part = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
            let mut words = line.split(|letter: char| !is_part(letter));
            if let Some(module) = words.find(|word| !word.is_empty()) {
                let path = format!("{}.py", module.replace('.', "/"));
                self.refer("", &path);
                self.found.named.insert(path);
            }
        }
    }

    /// Takes up a file that somebody names, from its own folder or from the top.
    fn refer(&mut self, folder: &str, name: &str) {
        for place in [join(folder, name), join("", name)] {
            if let Some(path) = self.resolve(&place) {
                if !self.is_product(&path) {
                    self.load(path);
                }
                return;
            }
        }
        // A path that is not there yet, such as an optional include, would be loaded once it is.
        if name.contains('.') {
            self.found.named.insert(join(folder, name));
            self.found.named.insert(join("", name));
        }
        // Scripts put folders on their search path; then only the end of a name is known.
        let end = format!("/{}", name.trim_start_matches("./"));
        let by_end = self.files.iter().find(|file| {
            let bare = file
                .rsplit_once('.')
                .map_or(file.as_str(), |(bare, _)| bare);
            extension(file) == "py" && (file.ends_with(&end) || bare.ends_with(&end))
        });
        if let Some(path) = by_end.filter(|path| !self.is_product(path)).cloned() {
            self.load(path);
        }
    }

    fn resolve(&self, place: &str) -> Option<String> {
        const ENDS: [&str; 14] = [
            "",
            ".js",
            ".mjs",
            ".cjs",
            ".ts",
            ".mts",
            ".tsx",
            ".jsx",
            ".json",
            ".py",
            ".sh",
            "/index.js",
            "/index.ts",
            "/__init__.py",
        ];
        let known =
            |path: &String| self.files.binary_search(path).is_ok() || self.files.contains(path);
        ENDS.iter().map(|end| format!("{place}{end}")).find(known)
    }

    /// Says whether a file is what is checked and not what checks.
    fn is_product(&self, path: &str) -> bool {
        self.tests.is_test(path)
            || self.imported.contains(&stem_of(path))
            || extension(path) == "rs"
    }
}

fn is_shell(path: &str) -> bool {
    ["sh", "bash", "zsh", "fish"].contains(&extension(path))
}

/// A module's or a file's name without folders and extension.
fn stem_of(path: &str) -> String {
    let path = path
        .trim_end_matches("/__init__.py")
        .trim_end_matches("/index.js")
        .trim_end_matches("/index.ts");
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name).to_owned()
}

/// What a source file imports, and what a shell script runs or reads in.
fn modules(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    match extension(path) {
        "py" | "pyi" => {
            for line in text.lines() {
                let line = line.trim_start();
                for part in line.split(';').map(str::trim) {
                    if let Some(rest) = part.strip_prefix("from ") {
                        let module = rest.split_whitespace().next().unwrap_or("");
                        found.push(module.trim_start_matches('.').replace('.', "/"));
                        let names = rest.split_once(" import ").map_or("", |(_, names)| names);
                        if module.trim_matches('.').is_empty() {
                            found.extend(words_of(names));
                        }
                    } else if let Some(rest) = part.strip_prefix("import ") {
                        let names = rest
                            .split(',')
                            .filter_map(|name| name.split_whitespace().next());
                        found.extend(names.map(|name| name.replace('.', "/")));
                    }
                }
            }
        }
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => {
            for mark in [
                "from ", "from'", "from\"", "import ", "import(", "import'", "import\"",
                "require(", "mock(",
            ] {
                for (at, _) in text.match_indices(mark) {
                    let rest = &text[at + mark.len() - usize::from(mark.ends_with(['\'', '"']))..];
                    let rest = rest.trim_start();
                    let Some(quote) = rest
                        .chars()
                        .next()
                        .filter(|letter| "'\"`".contains(*letter))
                    else {
                        continue;
                    };
                    if let Some((name, _)) = rest[1..].split_once(quote)
                        && name.starts_with('.')
                        && name.len() < 300
                    {
                        found.push(name.to_owned());
                    }
                }
            }
        }
        _ => {
            let is_part = |letter: char| letter.is_alphanumeric() || "._/-".contains(letter);
            let words = text.split(|letter: char| !is_part(letter));
            found.extend(
                words
                    .filter(|word| word.contains('.') && is_source(word))
                    .map(str::to_owned),
            );
        }
    }
    found.retain(|module| !module.is_empty());
    found
}

/// Source files that a text names, as tests do that start a program.
fn programs(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._/-".contains(letter);
    let words = text.split(|letter: char| !is_part(letter));
    words
        .filter(|word| word.contains('.') && word.len() < 200 && is_source(word))
        .map(str::to_owned)
        .collect()
}

fn words_of(text: &str) -> Vec<String> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words of a `package.json` that name no product file.
fn package_words(text: &str, called: &BTreeSet<String>) -> String {
    const PRODUCT: [&str; 25] = [
        "scripts",
        "name",
        "version",
        "description",
        "main",
        "module",
        "browser",
        "types",
        "typings",
        "exports",
        "imports",
        "bin",
        "files",
        "directories",
        "man",
        "keywords",
        "author",
        "license",
        "repository",
        "homepage",
        "bugs",
        "workspaces",
        "sideEffects",
        "engines",
        "style",
    ];
    let manifest: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let Some(object) = manifest.as_object() else {
        return String::new();
    };
    let is_own = |key: &String| !PRODUCT.contains(&key.as_str()) && !key.ends_with("ependencies");
    let parts = object.iter().filter(|(key, _)| is_own(key));
    let scripts = object.get("scripts").and_then(serde_json::Value::as_object);
    let scripts = scripts
        .into_iter()
        .flatten()
        .filter(|(name, _)| called.contains(*name));
    scripts
        .chain(parts)
        .map(|(_, value)| format!("{value}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::propose;
    use crate::tree::MapTree;

    fn loads(commands: &[&str], files: &[(&str, &str)], path: &str) -> bool {
        let tree: MapTree = files.iter().copied().collect();
        let tests = TestPaths::of(&propose(&tree).ecosystems, &[]);
        Harness::of(commands, &tree, &tests).loads(path)
    }

    #[test]
    fn what_a_harness_loads() {
        let python: &[(&str, &str)] = &[
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = '-p plug --cov=calc'\n",
            ),
            ("plug.py", "import helper\n"),
            ("helper.py", ""),
            ("calc.py", ""),
            ("tests/test_a.py", "from calc import add\n"),
        ];
        let node: &[(&str, &str)] = &[
            (
                "package.json",
                r#"{"main":"./calc.js","scripts":{"test":"vitest run"}}"#,
            ),
            (
                "vitest.config.js",
                "export default { test: { setupFiles: ['./lib/begin.js'] } };\n",
            ),
            (
                "lib/begin.js",
                "import './deep.js';\nimport { add } from '../calc.js';\n",
            ),
            ("lib/deep.js", ""),
            ("calc.js", ""),
            ("tests/a.test.js", "import { add } from '../calc.js';\n"),
        ];
        let make: &[(&str, &str)] = &[
            (
                "Makefile",
                "test:\n\t@sh run-tests.sh\n-include local.conf\n",
            ),
            (
                "run-tests.sh",
                ". lib/assert.sh\nfor t in tests/*.sh; do sh $t; done\n",
            ),
            ("lib/assert.sh", ""),
            ("calc.sh", ""),
            ("tests/a.sh", "sh calc.sh add 1 2\n"),
        ];
        let lint: &[(&str, &str)] = &[
            (
                "lint.py",
                "import sys; sys.path.insert(0, 'tools')\nfrom rules import rules\nopen('calc.sh')\n",
            ),
            ("tools/rules.py", ""),
            ("calc.sh", ""),
            ("tests/a.sh", "sh calc.sh\n"),
        ];
        let computed: &[(&str, &str)] = &[
            (
                "run-tests.sh",
                ". \"./lib/$(uname -s).sh\"\n. product/$1.sh\nfor t in tests/*.sh; do check $t; done\n",
            ),
            ("lib/Linux.sh", ""),
            ("product/calc.sh", ""),
            ("tests/a.sh", "sh product/calc.sh\n"),
        ];
        let executed: &[(&str, &str)] = &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("calc.py", ""),
            ("checks/a.py", ""),
            ("app/hooks/a.py", ""),
            (
                "app/conftest.py",
                "for p in (HERE / 'hooks').glob('*.py'):\n    exec(p.read_text())\n",
            ),
            (
                "tests/conftest.py",
                "for p in (TOP / 'checks').glob('*.py'):\n    exec(p.read_text())\n",
            ),
            ("tests/test_a.py", "from calc import add\n"),
        ];
        let bare: &[(&str, &str)] = &[("bin/all", "test -f README\n"), ("bin/other", "")];
        for (commands, files, path, expected) in [
            ("python3 -m pytest -q", python, "plug.py", true),
            ("python3 -m pytest -q", python, "helper.py", true),
            ("python3 -m pytest -q", python, "calc.py", false),
            ("python3 -m pytest -p extra", python, "extra.py", true),
            ("npm test", node, "lib/begin.js", true),
            ("npm test", node, "lib/deep.js", true),
            ("npm test", node, "calc.js", false),
            ("make test", make, "run-tests.sh", true),
            ("make test", make, "lib/assert.sh", true),
            ("make test", make, "local.conf", true),
            ("make test", make, "calc.sh", false),
            ("python3 lint.py", lint, "lint.py", true),
            ("python3 lint.py", lint, "tools/rules.py", true),
            ("python3 lint.py", lint, "calc.sh", false),
            ("sh run-tests.sh", computed, "lib/Linux.sh", true),
            ("sh run-tests.sh", computed, "lib/Darwin.sh", true),
            ("sh run-tests.sh", computed, "lib/notes.md", false),
            ("sh run-tests.sh", computed, "product/calc.sh", false),
            ("python3 -m pytest -q", executed, "checks/a.py", true),
            ("python3 -m pytest -q", executed, "checks/b.py", true),
            ("python3 -m pytest -q", executed, "checks/deep/b.py", false),
            ("python3 -m pytest -q", executed, "app/hooks/b.py", true),
            ("python3 -m pytest -q", executed, "app/other.py", false),
            ("python3 -m pytest -q", executed, "calc.py", false),
            ("sh bin/all", bare, "bin/all", true),
            ("sh bin/all", bare, "bin/other", false),
        ] {
            assert_eq!(
                loads(&[commands], files, path),
                expected,
                "{commands}: {path}"
            );
        }
    }
}
