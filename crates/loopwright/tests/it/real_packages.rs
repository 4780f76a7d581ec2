//! Source packages as people published them, one each from crates.io, npm and `PyPI`: their own
//! suites, real installations and builds in every tree that is measured, and one small honest story
//! each. What the base's suite showed and what measuring it took is printed.
//!
//! The packages are fetched once, with the operator's settings for the registries; afterwards
//! nothing needs the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ecosystems::toolbox::{once, pins, run};
use crate::ecosystems::{Played, Project, Story};
use crate::sample::sample;

/// A pinned version.
fn version(name: &str) -> String {
    let pin = pins("packages")
        .into_iter()
        .find(|(pinned, _)| pinned == name);
    pin.unwrap_or_else(|| panic!("{name} is not pinned")).1
}

/// Everything that is fetched from registries, in one folder.
fn fetched(name: &str, fetch: impl FnOnce(&Path)) -> PathBuf {
    once(&format!("package-{name}"), fetch)
}

fn plays(name: &'static str, source: &Path, checks: &str, story: Story) -> Played {
    Project::of_folder(name, source, checks).play(&[story])
}

#[test]
fn a_package_that_people_published() {
    let packages: [fn(); 3] = [a_crate_of_crates_io, a_package_of_npm, a_package_of_pypi];
    for play in sample("published packages", &packages) {
        play();
    }
}

const COMMON_PREFIX: &str = r"cat > common <<'CODE'
/// Counts the characters that two strings have in common at their beginnings.
pub fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}

CODE
sed '/^#.cfg(test)/,$d' src/lib.rs > head
sed -n '/^#.cfg(test)/,$p' src/lib.rs > tail
cat head common tail > src/lib.rs
rm head common tail";

const COMMON_PREFIX_TESTS: &str = r#"cat > tests/prefix.rs <<'CODE'
#[test]
fn prefixes_are_counted_in_characters() {
    assert_eq!(strsim::common_prefix("übung", "übel"), 2);
    assert_eq!(strsim::common_prefix("", "x"), 0);
}
CODE"#;

fn a_crate_of_crates_io() {
    let folder = fetched("crate", |folder| {
        let version = version("strsim");
        let manifest = format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\nstrsim = \"={version}\"\n[workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        fs::create_dir(folder.join("src")).expect("made");
        fs::write(folder.join("src/lib.rs"), "").expect("written");
        run(Command::new("cargo")
            .args(["vendor", "vendor"])
            .current_dir(folder));
        let _ = fs::remove_file(folder.join("vendor/strsim/.cargo-checksum.json"));
    });
    let checks = "setup = \"cargo fetch\"\ntypecheck = \"cargo check\"\ntest = \"cargo test\"";
    let story = Story {
        id: "prefix",
        criterion: "the common prefix is counted",
        implement: COMMON_PREFIX.to_owned(),
        write_tests: COMMON_PREFIX_TESTS.to_owned(),
        tests: &["prefixes_are_counted_in_characters"],
    };
    let played = plays("crates.io", &folder.join("vendor/strsim"), checks, story);
    let prefix = played.story("prefix");
    prefix.proven(&["prefixes_are_counted_in_characters"], true, 50);
    assert_eq!(played.landed(), ["prefix"]);
}

const NAMES: &str = r"cat >> index.js <<'CODE'

module.exports.names = function (args, opts) {
	return Object.keys(module.exports(args, opts)).filter(function (key) { return key !== '_'; });
};
CODE";

const NAMES_TESTS: &str = r"cat > test/names.js <<'CODE'
'use strict';

var parse = require('../');
var test = require('tape');

test('names of options', function (t) {
	t.deepEqual(parse.names(['-a', '--long', 'x', 'rest']), ['a', 'long'], 'names are listed');
	t.end();
});
CODE";

fn a_package_of_npm() {
    let tape = format!("tape@{}", version("tape"));
    let folder = fetched("npm", |folder| {
        let minimist = format!("minimist@{}", version("minimist"));
        run(Command::new("npm")
            .args(["pack", "--silent", &minimist])
            .current_dir(folder));
        let archive = format!("minimist-{}.tgz", version("minimist"));
        run(Command::new("tar")
            .args(["xzf", &archive])
            .current_dir(folder));
        let options = [
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "scratch",
            "--cache",
            "cache",
            &tape,
        ];
        run(Command::new("npm").args(options).current_dir(folder));
    });
    // Of its many development packages only the runner is taken; the others publish and lint.
    let checks = format!(
        "setup = \"npm install --offline --no-audit --no-fund --prefix .tools --cache '{}' {tape}\"\n\
         test = \"NODE_PATH=.tools/node_modules .tools/node_modules/.bin/tape 'test/**/*.js'\"",
        folder.join("cache").display()
    );
    let story = Story {
        id: "names",
        criterion: "the names of options are listed",
        implement: NAMES.to_owned(),
        write_tests: NAMES_TESTS.to_owned(),
        tests: &["names are listed"],
    };
    let played = plays("npm", &folder.join("package"), &checks, story);
    let names = played.story("names");
    names.proven(&["names are listed"], true, 153);
    assert_eq!(played.landed(), ["names"]);
    assert!(
        played
            .files()
            .iter()
            .all(|file| !file.contains("node_modules"))
    );
}

const INITIALS: &str = r#"cat >> inflection/__init__.py <<'CODE'


def initials(words: str) -> str:
    """Return the first letters of all words."""
    return "".join(word[0] for word in words.split())
CODE"#;

const INITIALS_TESTS: &str = r#"cat > test_initials.py <<'CODE'
import inflection


def test_initials():
    assert inflection.initials("very important person") == "vip"


def test_initials_of_nothing():
    assert inflection.initials("") == ""
CODE"#;

fn a_package_of_pypi() {
    let package = format!("inflection-{}", version("inflection"));
    let folder = fetched("pypi", |folder| {
        let pinned = |name: &str| format!("{name}=={}", version(name));
        let pip = |words: &[&str]| {
            run(Command::new("python3")
                .args(["-m", "pip", "download", "-q"])
                .args(words)
                .current_dir(folder))
        };
        pip(&[
            "--no-deps",
            "--no-binary",
            "inflection",
            &pinned("inflection"),
        ]);
        run(Command::new("tar")
            .args(["xzf", &format!("{package}.tar.gz")])
            .current_dir(folder));
        let pytest = pins("python")
            .into_iter()
            .find(|(name, _)| name == "pytest")
            .expect("a pin")
            .1;
        pip(&[
            "-d",
            "wheels",
            &format!("pytest=={pytest}"),
            &pinned("setuptools"),
            &pinned("wheel"),
        ]);
    });
    let checks = format!(
        "setup = \"python3 -m venv .venv && .venv/bin/pip install -q --no-index --find-links '{}' -e . pytest\"\n\
         test = \".venv/bin/python -m pytest\"",
        folder.join("wheels").display()
    );
    let story = Story {
        id: "initials",
        criterion: "words have initials",
        implement: INITIALS.to_owned(),
        write_tests: INITIALS_TESTS.to_owned(),
        tests: &["test_initials", "test_initials_of_nothing"],
    };
    let played = plays("PyPI", &folder.join(&package), &checks, story);
    played
        .story("initials")
        .proven(&["test_initials", "test_initials_of_nothing"], false, 455);
    assert_eq!(played.landed(), ["initials"]);
    assert!(
        played
            .file("inflection/__init__.py")
            .contains("def initials")
    );
    assert!(
        played
            .files()
            .iter()
            .all(|file| !file.contains(".venv") && !file.contains(".pytest_cache"))
    );
}
