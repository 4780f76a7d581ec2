//! Where a project itself says that its tests are, beside the usual places: the words of its check
//! commands, the loops of its check scripts, and the settings of its test runners.
//!
//! Whoever may change such a file may change what a test asks for. So a file is believed to be a test on
//! the project's word alone, but not where the words would make product code one.

use serde_json::Value;

use super::commands::{named, says_that_it_checks};
use super::glob::Pattern;
use crate::runner::{script_text, unwrapped};
use crate::shell::parse;
use crate::text::extension;
use crate::tree::Tree;

/// Runners whose words without a dash are test files. Those of pytest often name whole packages.
const RUNNERS: [&str; 8] = [
    "ava", "bats", "jasmine", "mocha", "prove", "tap", "tape", "uvu",
];

/// Programs that run a file which they are given.
const INTERPRETERS: [&str; 9] = [
    "sh", "bash", "dash", "node", "python", "python3", "ruby", "perl", ".",
];

/// What `node --test` runs without being told.
const OF_NODE: [&str; 4] = [
    "*-test.{js,mjs,cjs,ts,mts,cts}",
    "*_test.{js,mjs,cjs,ts,mts,cts}",
    "test-*.{js,mjs,cjs,ts,mts,cts}",
    "test.{js,mjs,cjs,ts,mts,cts}",
];

/// Folders that say nothing about what is in them.
const PRODUCT: [&str; 14] = [
    "", ".", "src", "lib", "app", "apps", "source", "packages", "pkg", "cmd", "internal", "core",
    "bin", "scripts",
];

/// The patterns that a project declares, in words that [`Pattern`] reads.
pub fn declared(commands: &[&str], tree: &dyn Tree) -> Vec<String> {
    let named = named(commands, tree);
    let mut texts: Vec<String> = commands
        .iter()
        .map(|command| (*command).to_owned())
        .collect();
    let scripts = named.scripts.iter();
    texts.extend(scripts.filter_map(|name| script_text(tree, "", name)));
    let files = named.runs.iter().filter(|path| extension(path) == "sh");
    texts.extend(files.filter_map(|path| tree.read(path)));
    if named.calls(&["make", "just"]) {
        let recipes = [
            "Makefile",
            "makefile",
            "GNUmakefile",
            "justfile",
            "Justfile",
        ];
        texts.extend(recipes.iter().filter_map(|path| tree.read(path)));
    }
    let mut found: Vec<String> = texts
        .iter()
        .flat_map(|text| [of_runners(text, tree), of_loops(text)].concat())
        .collect();
    if named.calls(&["pytest", "py.test"]) || named.modules.contains("pytest") {
        found.extend(of_pytest(tree));
    }
    found.extend(of_settings(tree));
    found.retain(|pattern| is_about_tests(pattern) && Pattern::parse(pattern).is_ok());
    found.sort();
    found.dedup();
    found
}

/// The test files that calls of runners name.
fn of_runners(text: &str, tree: &dyn Tree) -> Vec<String> {
    let mut found = Vec::new();
    for call in text.lines().flat_map(|line| parse(line).calls) {
        let words = unwrapped(&call.words);
        let Some((program, rest)) = words.split_first() else {
            continue;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_node = ["node", "tsx"].contains(&name) && rest.contains(&"--test");
        if !is_node && !RUNNERS.contains(&name) {
            continue;
        }
        // Neither options nor what is to be left out.
        let paths = rest.iter().filter(|word| !word.starts_with(['-', '!']));
        let mut has_paths = false;
        for path in paths {
            has_paths = true;
            found.extend(of_word(path, tree));
        }
        if is_node && !has_paths {
            found.extend(OF_NODE.map(str::to_owned));
        }
    }
    found
}

/// One word of a runner: a pattern, a folder, or a file whose name says that it checks.
fn of_word(word: &str, tree: &dyn Tree) -> Option<String> {
    let path = word.trim_start_matches("./");
    if word.contains('*') {
        return Some(from_top(path));
    }
    let is_folder = !tree.list(path.trim_end_matches('/')).is_empty();
    match (is_folder, extension(path)) {
        (true, _) => Some(from_top(&format!("{}/", path.trim_end_matches('/')))),
        (false, "") => None,
        (false, _) => says_that_it_checks(path).then(|| from_top(path)),
    }
}

/// A pattern without a folder would be about names at any depth.
fn from_top(path: &str) -> String {
    format!("/{path}")
}

/// The patterns of `for NAME in PATTERN…` in shell scripts and recipes, where the loop runs what it finds.
fn of_loops(text: &str) -> Vec<String> {
    let is_gap = |letter: char| letter.is_whitespace() || letter == ';';
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        let ["for", name, "in", rest @ ..] = &words[at..] else {
            continue;
        };
        let patterns: Vec<&str> = rest
            .iter()
            .copied()
            .take_while(|word| *word != "do")
            .collect();
        let body = &rest[patterns.len()..];
        let end = body.iter().position(|word| *word == "done");
        if runs(&body[..end.unwrap_or(body.len())], name) {
            let patterns = patterns.iter().filter(|word| word.contains('*'));
            found.extend(patterns.map(|word| from_top(word.trim_start_matches("./"))));
        }
    }
    found
}

/// Whether the words of a loop run its variable.
fn runs(body: &[&str], name: &str) -> bool {
    let plain = |word: &str| {
        word.replace(['"', '\'', '{', '}', '(', ')'], "")
            .replace("$$", "$")
    };
    let variable = format!("${name}");
    let mut before = String::from("do");
    for word in body {
        let word = plain(word);
        let is_run = INTERPRETERS.contains(&before.as_str())
            || ["do", "if", "then", "!", "&&", "||"].contains(&before.as_str());
        if word == format!("./{variable}") || (word == variable && is_run) {
            return true;
        }
        // Options of an interpreter stand between it and the file.
        if !(word.starts_with('-') && INTERPRETERS.contains(&before.as_str())) {
            before = word;
        }
    }
    false
}

/// `python_files` of pytest's settings, below `testpaths` where there are any.
fn of_pytest(tree: &dyn Tree) -> Vec<String> {
    let (files, places) = pytest_settings(tree);
    let mut found = Vec::new();
    for file in &files {
        if places.is_empty() {
            found.push(file.clone());
        }
        for place in &places {
            found.push(format!("/{}/**/{file}", place.trim_matches('/')));
        }
    }
    found
}

/// `python_files` and `testpaths`, from the first file of settings that has them.
fn pytest_settings(tree: &dyn Tree) -> (Vec<String>, Vec<String>) {
    let text = tree.read("pyproject.toml").unwrap_or_default();
    if let Ok(manifest) = text.parse::<toml::Table>() {
        let pytest = manifest.get("tool").and_then(|tool| tool.get("pytest"));
        let options = pytest.map(|pytest| pytest.get("ini_options").unwrap_or(pytest));
        if let Some(options) = options {
            let of = |key| options.get(key).map(words_of_toml).unwrap_or_default();
            return (of("python_files"), of("testpaths"));
        }
    }
    for (path, section) in [
        ("pytest.ini", "[pytest]"),
        (".pytest.ini", "[pytest]"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ] {
        let text = tree.read(path).unwrap_or_default();
        if let Some((_, rest)) = text.split_once(section) {
            let own = rest.split("\n[").next().unwrap_or(rest);
            return (of_ini(own, "python_files"), of_ini(own, "testpaths"));
        }
    }
    (Vec::new(), Vec::new())
}

fn words_of_toml(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Array(values) => values.iter().flat_map(words_of_toml).collect(),
        toml::Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The words of a key, which may go on in indented lines.
fn of_ini(section: &str, key: &str) -> Vec<String> {
    let mut lines = section.lines();
    let first = lines.by_ref().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then_some(value)
    });
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    let all = first
        .into_iter()
        .flat_map(|first| std::iter::once(first).chain(more.clone()));
    all.flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// Patterns in the settings of mocha, jest and vitest.
fn of_settings(tree: &dyn Tree) -> Vec<String> {
    let manifest = tree.read("package.json").unwrap_or_default();
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    let mut found = texts(&manifest["mocha"]["spec"]);
    found.extend(texts(&manifest["jest"]["testMatch"]));
    for name in tree.list("") {
        let read = || tree.read(&name).unwrap_or_default();
        if name.starts_with(".mocharc.") {
            found.extend(strings_after(&read(), "spec"));
        } else if name.starts_with("jest.config.") {
            found.extend(strings_after(&read(), "testMatch"));
        } else if name.starts_with("vitest.config.") || name.starts_with("vite.config.") {
            let text = read();
            found.extend(
                inner(&text, "test")
                    .map(|test| strings_after(&test, "include"))
                    .unwrap_or_default(),
            );
        }
    }
    found
        .into_iter()
        .map(|pattern| pattern.replace("<rootDir>/", "/"))
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// What stands in the braces of a key, without what stands in deeper ones: settings of coverage name
/// product code.
fn inner(text: &str, key: &str) -> Option<String> {
    let at = position_of(text, key)?;
    let rest = text[at..].trim_start().strip_prefix('{')?;
    let mut depth = 0_usize;
    let mut own = String::new();
    for letter in rest.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(own),
            '}' => depth -= 1,
            _ if depth == 0 => own.push(letter),
            _ => {}
        }
    }
    Some(own)
}

/// The texts in quotes behind a key: all of a list, or one. In YAML they may stand without quotes.
fn strings_after(text: &str, key: &str) -> Vec<String> {
    let Some(at) = position_of(text, key) else {
        return Vec::new();
    };
    let rest = text[at..].trim_start_matches([' ', '\t']);
    if let Some(list) = rest.strip_prefix('[') {
        return in_quotes(list.split(']').next().unwrap_or(list));
    }
    let first = rest.lines().next().unwrap_or_default();
    let quoted = in_quotes(first);
    if !quoted.is_empty() {
        return quoted.into_iter().take(1).collect();
    }
    let items = rest.lines().skip(1);
    let items = items.map_while(|line| line.trim_start().strip_prefix("- "));
    let all = std::iter::once(first)
        .chain(items)
        .map(|word| word.trim().trim_matches(['"', '\'']));
    all.filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Where the value of a key begins: behind its colon.
fn position_of(text: &str, key: &str) -> Option<usize> {
    text.match_indices(key).find_map(|(at, _)| {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        if text[..at].ends_with(is_part) {
            return None;
        }
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
        let rest = rest.strip_prefix(':')?;
        Some(text.len() - rest.len())
    })
}

fn in_quotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'', '`']) {
        let quote = &rest[start..=start];
        let Some(end) = rest[start + 1..].find(quote) else {
            break;
        };
        found.push(rest[start + 1..start + 1 + end].to_owned());
        rest = &rest[start + end + 2..];
    }
    found
}

/// Whether a pattern says more than "files of this kind", by a word in the name or by a folder.
fn is_about_tests(pattern: &str) -> bool {
    if pattern.starts_with('!') || pattern.contains("..") {
        return false;
    }
    let path = pattern.trim_start_matches("./").trim_start_matches('/');
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let has_word = |text: &str| text.chars().any(char::is_alphanumeric);
    has_word(stem)
        || folders
            .split('/')
            .any(|folder| !folder.contains('*') && !PRODUCT.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    fn found(command: &str, files: &[(&str, &str)]) -> String {
        let tree: MapTree = files.iter().copied().collect();
        declared(&[command], &tree).join(" ")
    }

    #[test]
    fn a_project_says_where_its_tests_are() {
        let package = |script: &str| format!(r#"{{"scripts": {{"test": "{script}"}}}}"#);
        let of_package = |script: &str, more: &[(&str, &str)]| {
            let package = package(script);
            let files = [&[("package.json", package.as_str())], more].concat();
            found("npm test", &files)
        };
        assert_eq!(of_package("node --test", &[]), OF_NODE.join(" "));
        assert_eq!(
            of_package("mocha 'src/**/*.verify.js' 'src/*.js'", &[]),
            "/src/**/*.verify.js"
        );
        let vitest = "export default { test: { coverage: { include: ['src/**/*.check.js'] }, include: ['src/**/*.verify.js'] } };";
        assert_eq!(
            of_package("vitest run", &[("vitest.config.js", vitest)]),
            "src/**/*.verify.js"
        );
        let optimised = "export default { optimizeDeps: { include: ['a/b.check.js'] } };";
        assert_eq!(
            of_package("vitest run", &[("vite.config.ts", optimised)]),
            ""
        );
        let jest = "module.exports = { testMatch: ['<rootDir>/qa/**/*.js', \"**/*.js\"] };";
        assert_eq!(
            of_package("jest", &[("jest.config.js", jest)]),
            "/qa/**/*.js"
        );
        assert_eq!(
            of_package(
                "mocha",
                &[(
                    ".mocharc.yml",
                    "spec:\n  - 'qa/*.js'\n  - lib/*.check.js\nui: bdd\n"
                )]
            ),
            "lib/*.check.js qa/*.js"
        );
        let mixed = "[tool.pytest.ini_options]\ntestpaths = ['qa', 'tests']\npython_files = ['check_*.py', '*.py']\n";
        assert_eq!(
            found("python3 -m pytest -q", &[("pyproject.toml", mixed)]),
            "/qa/**/*.py /qa/**/check_*.py /tests/**/*.py /tests/**/check_*.py"
        );
        assert_eq!(
            found(
                "pytest",
                &[(
                    "pytest.ini",
                    "[pytest]\npython_files =\n    check_*.py\n    *.py\naddopts = -q\n"
                )]
            ),
            "check_*.py"
        );
        assert_eq!(
            found(
                "pytest",
                &[("setup.cfg", "[tool:pytest]\npython_files = spec_*.py\n")]
            ),
            "spec_*.py"
        );
    }

    #[test]
    fn a_loop_that_runs_what_it_finds_is_one_over_tests() {
        for (script, expected) in [
            (
                "for test in verify/*.sh tests/*.sh; do\n  if sh \"$test\"; then echo ok; fi\ndone\n",
                "/tests/*.sh /verify/*.sh",
            ),
            ("for t in qa/*; do ./$t || exit 1; done", "/qa/*"),
            (
                "for t in qa/*.js; do node --no-warnings \"${t}\"; done",
                "/qa/*.js",
            ),
            ("for t in qa/*; do $t || exit 1; done", "/qa/*"),
            ("for t in qa/*; do echo $t; done", ""),
            ("for file in src/*.sh; do sh $file; done", ""),
            (
                "for file in product/*.py; do python3 -m py_compile \"$file\"; done",
                "",
            ),
            ("for file in product/*.c; do cc -c $file; done", ""),
            ("for name in a b; do sh $name; done", ""),
        ] {
            let files = [("run-tests.sh", script)];
            assert_eq!(found("sh run-tests.sh", &files), expected, "{script}");
        }
        let recipe = "test:\n\tfor t in verify/*.sh; do sh $$t || exit 1; done\n";
        assert_eq!(found("make test", &[("Makefile", recipe)]), "/verify/*.sh");
    }

    #[test]
    fn words_of_runners_are_believed_as_far_as_they_speak_of_tests() {
        let of = |script: &str, more: &[(&str, &str)]| {
            let package = format!(r#"{{"scripts": {{"test": "{script}"}}}}"#);
            let files = [&[("package.json", package.as_str())], more].concat();
            found("npm test", &files)
        };
        let folder = [("qa/a.js", "")];
        for (script, expected) in [
            // What is named, and nothing else.
            ("node --test lib/calc-verify.js", "/lib/calc-verify.js"),
            ("node --test lib/index.js", ""),
            ("node lib/calc-test.js", ""),
            ("mocha --require lib/index.js", ""),
            ("mocha qa", "/qa/"),
            ("mocha ./qa/ --reporter spec", "/qa/"),
            // Neither what is left out nor what lies elsewhere.
            ("mocha '!src/**/*.verify.js' '../other/*.verify.js'", ""),
        ] {
            assert_eq!(of(script, &folder), expected, "{script}");
        }
        let manifest = |own: &str| {
            [("package.json", own)].map(|(path, text)| found("npm test", &[(path, text)]))
        };
        assert_eq!(manifest(r#"{"mocha": {"spec": ["qa/*.js"]}}"#), ["qa/*.js"]);
        assert_eq!(
            manifest(r#"{"jest": {"testMatch": ["qa/*.js"]}}"#),
            ["qa/*.js"]
        );
        assert_eq!(
            manifest(r#"{"jest": {"testMatch": ["!qa/*.js", "/../qa/*.js"]}}"#),
            [""]
        );
        // Another key that ends alike.
        let other = [(".mocharc.yml", "nospec: 'qa/*.js'\n")];
        assert_eq!(of("mocha", &other), "");
    }

    #[test]
    fn settings_of_pytest_count_where_pytest_runs() {
        let names = "[tool:pytest]\npython_files = spec_*.py\n";
        let elsewhere = "[tool:pytest]\naddopts = -q\n[other]\npython_files = spec_*.py\n";
        for (command, text, expected) in [
            ("pytest", names, "spec_*.py"),
            ("python3.11 -m pytest", names, "spec_*.py"),
            ("python3 -m unittest", names, ""),
            ("pytest", elsewhere, ""),
        ] {
            let files = [("setup.cfg", text)];
            assert_eq!(found(command, &files), expected, "{command}: {text}");
        }
    }

    #[test]
    fn what_comes_after_a_loop_is_no_part_of_it() {
        let script = "for t in qa/*.txt; do cat $t; done\nsh $t\n";
        assert_eq!(found("sh run-tests.sh", &[("run-tests.sh", script)]), "");
    }
}
