//! Suspicion by default: which changed files are tests, which are product code, and which are
//! neither and must be measured with and without.
//!
//! Code is what is positively known as such. Lists of names only ever take trust away.

use serde::{Deserialize, Serialize};

use super::agents::is_agent_config;
use super::for_tests::{is_of_others, is_rust_for_tests};
use super::harness::Harness;
use super::kinds::{is_data, is_document, is_either, is_hidden, is_looked_for, is_source};
use super::shadows::shadows;
use super::support::Uses;
use super::test_paths::TestPaths;
use crate::tree::Tree;

/// What a file is, as far as a verdict cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Product code, or data that belongs to it.
    Code,
    /// A test, or something that tests stand on.
    Test,
    /// Anything else.
    Suspect(Why),
}

/// Why a file is not known as product code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Tools look for it by its name.
    Configuration,
    /// The harness loads it.
    Loaded,
    /// It would run instead of something that a check means.
    Shadow,
    /// It is a link, or took the place of one.
    Link,
    /// Tests or the harness read it.
    Read,
    /// Nothing but tests stands on it.
    Support,
    /// It instructs agents.
    AgentConfiguration,
    /// Nothing is known of such files.
    Unknown,
}

impl Why {
    /// The reason in words that follow "it is suspect because".
    pub fn words(self) -> &'static str {
        match self {
            Self::Configuration => "tools read it as configuration",
            Self::Loaded => "the project's checks load it",
            Self::Shadow => "it would run instead of something that a check means",
            Self::Link => "it is a link, or replaces one",
            Self::Read => "tests or checks read it",
            Self::Support => "nothing but tests stands on it",
            Self::AgentConfiguration => "it configures agents",
            Self::Unknown => "it is not known as product code",
        }
    }
}

/// One changed path, as a class is asked for it.
#[derive(Clone, Debug, Default)]
pub struct Changed<'a> {
    /// The path below the project's folder.
    pub path: &'a str,
    /// Whether the base has it.
    pub was_there: bool,
    /// Whether it is or was anything but a regular file.
    pub is_irregular: bool,
    /// Where a new link leads, seen from the project's folder, if that is inside it.
    pub leads_to: Option<String>,
}

/// The rules of one project, as its base shows them.
pub struct Suspicion<'a> {
    commands: Vec<&'a str>,
    base: &'a dyn Tree,
    tests: &'a TestPaths,
    harness: Harness,
    /// The texts of tests and harness, read once somebody asks what they read.
    readers: std::cell::OnceCell<String>,
    /// What product code and tests use, looked up once somebody asks.
    uses: std::cell::OnceCell<Uses>,
}

/// Bytes of tests and harness that are searched for the names of data.
const READERS_BYTES_MAX: usize = 16 << 20;

impl<'a> Suspicion<'a> {
    /// The rules that follow from the base and its check commands.
    pub fn of(commands: &[&'a str], base: &'a dyn Tree, tests: &'a TestPaths) -> Self {
        Self {
            commands: commands.to_vec(),
            base,
            tests,
            harness: Harness::of(commands, base, tests),
            readers: std::cell::OnceCell::new(),
            uses: std::cell::OnceCell::new(),
        }
    }

    /// What a changed file is.
    pub fn class(&self, changed: &Changed<'_>) -> Class {
        let path = changed.path;
        if changed.is_irregular {
            return match &changed.leads_to {
                Some(target) if !changed.was_there => self.linked(path, target),
                Some(_) | None => Class::Suspect(Why::Link),
            };
        }
        self.plain(path, changed.was_there)
    }

    /// A new link inside the project is what its name and its target both are.
    fn linked(&self, path: &str, target: &str) -> Class {
        let (own, other) = (
            self.plain(path, false),
            self.plain(target, self.base.has(target)),
        );
        match (own, other) {
            (Class::Code, Class::Code) => Class::Code,
            _ => Class::Suspect(Why::Link),
        }
    }

    fn plain(&self, path: &str, was_there: bool) -> Class {
        if is_agent_config(path) {
            return Class::Suspect(Why::AgentConfiguration);
        }
        // What lies outside of the project's folder is nobody's product as far as we know.
        if path.starts_with("../") {
            return Class::Suspect(Why::Unknown);
        }
        if self.tests.is_test(path) {
            return Class::Test;
        }
        if !was_there && !shadows(&self.commands, self.base, &[path.to_owned()]).is_empty() {
            return Class::Suspect(Why::Shadow);
        }
        if is_hidden(path) || is_looked_for(path) {
            return Class::Suspect(Why::Configuration);
        }
        if self.harness.loads(path) {
            return Class::Suspect(Why::Loaded);
        }
        if is_of_others(path) {
            return Class::Suspect(Why::Unknown);
        }
        if is_source(path) {
            if self.is_support(path, was_there)
                || is_rust_for_tests(path, &self.harness.files, self.base)
            {
                return Class::Suspect(Why::Support);
            }
            if !was_there && self.harness.lists(path) {
                return Class::Suspect(Why::Loaded);
            }
            // Values that only stand there for tests to import are the tests' own.
            let is_values = was_there
                && HOLD_VALUES.contains(&crate::text::extension(path))
                && self.harness.is_imported(path)
                && self
                    .base
                    .read(path)
                    .is_some_and(|text| holds_values_only(&text));
            return if is_values {
                Class::Suspect(Why::Read)
            } else {
                Class::Code
            };
        }
        self.data(path, was_there)
    }

    fn is_support(&self, path: &str, was_there: bool) -> bool {
        let uses = self
            .uses
            .get_or_init(|| Uses::of(&self.harness.files, self.base, self.tests));
        let text = was_there.then(|| self.base.read(path)).flatten();
        uses.is_support(path, text.as_deref())
    }

    fn data(&self, path: &str, was_there: bool) -> Class {
        const EXPECTED: [&str; 6] = ["bin", "src", "lib", "app", "cmd", "internal"];
        let is_at_top = !path.contains('/');
        if is_either(path) && is_at_top {
            return Class::Suspect(Why::Configuration);
        }
        // Tests run a program by its name, which is no reading.
        let is_program = was_there
            && crate::text::extension(path).is_empty()
            && self
                .base
                .read(path)
                .is_some_and(|text| text.starts_with("#!"));
        if is_program {
            return Class::Code;
        }
        if self.is_read(path, was_there) {
            return Class::Suspect(Why::Read);
        }
        if is_document(path) || is_data(path) {
            return Class::Code;
        }
        // A program without an extension, as people keep them in `bin/`, and whatever lies where
        // source is expected.
        let mut folders = path.split('/').rev().skip(1);
        if was_there || folders.any(|folder| EXPECTED.contains(&folder)) {
            return Class::Code;
        }
        Class::Suspect(Why::Unknown)
    }

    /// Says whether the base's tests or harness name a file, or the folder that they list.
    fn is_read(&self, path: &str, was_there: bool) -> bool {
        let texts = self.readers.get_or_init(|| self.read_readers());
        let name = path.rsplit('/').next().unwrap_or(path);
        if has_word(texts, name) {
            return true;
        }
        let folders: Vec<&str> = path.split('/').collect();
        let folders = &folders[..folders.len() - 1];
        // A new file beside product source is read only if its very folder is listed.
        let listed = folders.last().copied().into_iter();
        let all = folders.iter().copied();
        let mut named: Box<dyn Iterator<Item = &str>> = if was_there {
            Box::new(all)
        } else {
            Box::new(listed)
        };
        named.any(|folder| folder.len() > 2 && is_listed(texts, folder))
    }

    fn read_readers(&self) -> String {
        let mut texts = String::new();
        for path in &self.harness.readers {
            if texts.len() > READERS_BYTES_MAX {
                break;
            }
            if let Some(text) = self.base.read(path) {
                texts.push_str(&text);
                texts.push('\n');
            }
        }
        texts
    }
}

/// Languages in which a file may hold nothing but values. In others every line does something.
const HOLD_VALUES: [&str; 11] = [
    "py", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "rb", "rs",
];

/// Says whether a source text defines values and nothing that runs.
fn holds_values_only(text: &str) -> bool {
    const RUNS: [&str; 17] = [
        "=>", "function", "def ", "lambda", "class ", "fn ", "func ", "return", "if ", "for ",
        "while ", "async ", "case ",
        "impl ", // What hands on the work of others has values of nobody.
        " from ", "import ", "require(",
    ];
    text.contains(['[', '{']) && !RUNS.iter().any(|word| text.contains(word))
}

/// Says whether a text has a name that stands alone.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Says whether a text names a folder as one does whose files are listed: in quotes, or with a
/// pattern behind it.
fn is_listed(text: &str, folder: &str) -> bool {
    ["\"", "'", "`", "/"].iter().any(|before| {
        ["\"", "'", "`", "/*", "/$", "/\"", "/'", "/{"]
            .iter()
            .any(|after| text.contains(&format!("{before}{folder}{after}")))
    }) || text.contains(&format!(" {folder}/*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::propose;
    use crate::tree::MapTree;

    fn classes(command: &str, files: &[(&str, &str)], paths: &[(&str, Class)]) {
        let tree: MapTree = files.iter().copied().collect();
        let tests = TestPaths::of(&propose(&tree).ecosystems, &[]);
        let suspicion = Suspicion::of(&[command], &tree, &tests);
        for (path, expected) in paths {
            let changed = Changed {
                path,
                was_there: tree.has(path),
                ..Changed::default()
            };
            assert_eq!(suspicion.class(&changed), *expected, "{command}: {path}");
        }
    }

    const CODE: Class = Class::Code;
    const TEST: Class = Class::Test;
    const CONFIG: Class = Class::Suspect(Why::Configuration);
    const LOADED: Class = Class::Suspect(Why::Loaded);
    const READ: Class = Class::Suspect(Why::Read);
    const SHADOW: Class = Class::Suspect(Why::Shadow);

    #[test]
    fn python_files() {
        let files = [
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = '-p plug'\n",
            ),
            ("plug.py", ""),
            ("calc.py", ""),
            ("data/cases.json", "[]"),
            ("app/templates/a.html", ""),
            (
                "tests/test_a.py",
                "from calc import add\nopen('data/cases.json')\n",
            ),
        ];
        classes(
            "python3 -m pytest -q",
            &files,
            &[
                ("calc.py", CODE),
                ("app/new.py", CODE),
                ("python/bindings.py", CODE),
                ("dist/x.py", CODE),
                ("app/templates/b.html", CODE),
                ("app/schema.sql", CODE),
                ("app/defaults.yaml", CODE),
                ("README.md", CODE),
                ("notes.txt", CODE),
                ("tests/test_b.py", TEST),
                ("tests/conftest.py", TEST),
                ("plug.py", LOADED),
                ("pytest.toml", CONFIG),
                ("pyproject.toml", CONFIG),
                ("settings.toml", CONFIG),
                (".env", CONFIG),
                ("data/cases.json", READ),
                ("data/more.json", CODE),
                ("pytest.py", SHADOW),
                ("sitecustomize.py", SHADOW),
                ("Makefile", CONFIG),
                ("fake", Class::Suspect(Why::Unknown)),
            ],
        );
    }

    #[test]
    fn files_of_other_ecosystems() {
        classes(
            "npm test",
            &[
                (
                    "package.json",
                    r#"{"scripts":{"test":"node --test spec/addSpec.js"}}"#,
                ),
                ("calc.js", ""),
                ("spec/addSpec.js", "import '../calc.js'"),
            ],
            &[
                ("calc.js", CODE),
                ("src/setup.js", CODE),
                ("src/spec.js", CODE),
                ("spec/addSpec.js", TEST),
                ("package.json", CONFIG),
                (".npmrc", CONFIG),
                ("babel.config.js", CONFIG),
            ],
        );
        classes(
            "cargo test",
            &[("Cargo.toml", ""), ("src/lib.rs", ""), ("src/tests.rs", "")],
            &[
                ("src/lib.rs", CODE),
                ("src/target/mod.rs", CODE),
                ("src/tests.rs", TEST),
                ("tests/api.rs", TEST),
                ("build.rs", CONFIG),
                (".cargo/config.toml", CONFIG),
            ],
        );
        classes(
            "sh run-tests.sh",
            &[
                ("run-tests.sh", "for t in t/*.t; do sh $t; done\n"),
                ("calc.sh", ""),
                ("t/add.t", "sh calc.sh\n"),
            ],
            &[
                ("calc.sh", CODE),
                ("crlf.txt", CODE),
                ("t/add.t", TEST),
                ("run-tests.sh", LOADED),
                ("dist/app.sh", CODE),
            ],
        );
    }
}
