//! What is proposed for which project.

use checks::MapTree;
use checks::detect::{Proposal, Proposed, propose, propose_on};

/// A project of files, each `path` or `path=text`.
fn tree(files: &[&str]) -> MapTree {
    files
        .iter()
        .map(|file| file.split_once('=').unwrap_or((file, "")))
        .collect()
}

fn shown(files: &[&str]) -> String {
    commands(&propose(&tree(files)))
}

fn commands(proposal: &Proposal) -> String {
    let command = |proposed: &Option<Proposed>| {
        proposed
            .as_ref()
            .map_or("-".to_owned(), |found| found.command.clone())
    };
    let parts = [
        &proposal.setup,
        &proposal.typecheck,
        &proposal.lint,
        &proposal.test,
    ]
    .map(command);
    format!("{:?} {}", proposal.ecosystems, parts.join(" | "))
}

fn check(rows: &[(Vec<&str>, &str)]) {
    for (files, expected) in rows {
        assert_eq!(shown(files), *expected, "{files:?}");
    }
}

#[test]
fn projects_with_a_package_manager_show_their_checks() {
    check(&[
        (vec!["README.md"], "[] - | - | - | -"),
        (
            vec!["Cargo.toml=[package]"],
            "[Cargo] - | cargo check --all-targets | - | cargo test",
        ),
        (
            vec![
                "Cargo.toml=[workspace]\n[workspace.lints.rust]\n",
                "Cargo.lock",
                ".config/nextest.toml",
            ],
            "[Cargo] cargo fetch --locked | cargo check --workspace --all-targets | cargo clippy --workspace --all-targets -- -D warnings | cargo nextest run --workspace",
        ),
        (
            vec![
                r#"package.json={"scripts":{"test":"vitest run","lint":"eslint ."},"devDependencies":{"typescript":"5"}}"#,
                "package-lock.json",
                "tsconfig.json",
            ],
            "[Node] npm ci | npx --no-install tsc --noEmit | npm run lint | npm test",
        ),
        (
            vec![
                r#"package.json={"scripts":{"test":"jest","typecheck":"tsc"}}"#,
                "pnpm-lock.yaml",
            ],
            "[Node] pnpm install --frozen-lockfile | pnpm run typecheck | - | pnpm test",
        ),
        (
            vec![
                r#"package.json={"devDependencies":{"vitest":"1","@biomejs/biome":"1"}}"#,
                "yarn.lock",
                ".yarnrc.yml",
                "biome.json",
            ],
            "[Node] yarn install --immutable | - | yarn biome check | yarn vitest run",
        ),
        (
            vec!["package.json={}", "bun.lock", "a.test.ts"],
            "[Node] bun install --frozen-lockfile | - | - | bun test",
        ),
        (
            vec![r#"package.json={"scripts":{"test":"x"}}"#, "bun.lockb"],
            "[Node] bun install --frozen-lockfile | - | - | bun run test",
        ),
        (
            vec![
                r#"package.json={"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
                "test/a.test.js",
            ],
            "[Node] - | - | - | node --test",
        ),
        (vec!["package.json=broken"], "[Node] - | - | - | -"),
    ]);
}

#[test]
fn other_projects_show_their_checks() {
    check(&[
        (
            vec![
                "pyproject.toml=[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n",
                "uv.lock=name = \"mypy\"\nname = \"ruff\"",
            ],
            "[Python] uv sync --frozen --all-extras --all-groups | uv run --frozen mypy . | uv run --frozen ruff check . | uv run --frozen pytest",
        ),
        (
            vec!["poetry.lock", "pyproject.toml=pytest = \"8\""],
            "[Python] poetry install --no-interaction | - | - | poetry run pytest",
        ),
        (
            vec!["requirements.txt=requests", "tests/conftest.py"],
            "[Python] python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt pytest | - | - | .venv/bin/python -m pytest",
        ),
        (
            vec!["pytest.ini", "a.py"],
            "[Python] python3 -m venv .venv && .venv/bin/pip install -q pytest | - | - | .venv/bin/python -m pytest",
        ),
        (
            vec!["tests/test_a.py=import unittest", "tests/__init__.py"],
            "[Python] - | - | - | python3 -m unittest discover",
        ),
        (
            vec!["go.mod", "go.sum", ".golangci.yml"],
            "[Go] go mod download | go vet ./... | golangci-lint run | go test ./...",
        ),
        (vec!["pom.xml", "mvnw"], "[Jvm] - | - | - | ./mvnw -B test"),
        (
            vec!["build.gradle.kts"],
            "[Jvm] - | - | - | gradle test --continue",
        ),
        (
            vec!["Makefile=CC := cc\ntest: all\n\tsh t.sh\nlint:\n\tx\n"],
            "[Make] - | - | make lint | make test",
        ),
        (
            vec!["Makefile=all:\n\tcc\ncheck:\n\t./check\n"],
            "[Make] - | - | - | make check",
        ),
        (
            vec!["justfile=set x := 'a'\ntest arg='':\n  x\n"],
            "[Just] - | - | - | just test",
        ),
        (
            vec!["Cargo.toml=[package]", "Makefile=lint:\n\tx\ntest:\n\ty\n"],
            "[Cargo, Make] - | cargo check --all-targets | make lint | cargo test",
        ),
    ]);
}

/// What a virtual environment is filled with, and what runs the tests in it.
fn installed(files: &[&str]) -> String {
    let shown = shown(files);
    let parts: Vec<&str> = shown.split(" | ").collect();
    let setup = parts[0].rsplit("pip install -q ").next().unwrap_or("");
    let test = parts[3].strip_prefix(".venv/bin/python -m ");
    format!("{setup} => {}", test.unwrap_or(parts[3]))
}

#[test]
fn every_file_that_configures_pytest_counts() {
    for file in ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"] {
        assert_eq!(installed(&[file]), "pytest => pytest", "{file}");
    }
    let in_tox = "tox.ini=[pytest]\ntestpaths = spec\n";
    assert_eq!(installed(&[in_tox]), "pytest => pytest");
}

#[test]
fn what_the_tests_need_is_installed() {
    for (files, expected) in [
        (
            vec!["test_requirements.txt=pytest"],
            "-r test_requirements.txt pytest",
        ),
        (
            vec!["requirements.txt=a", "requirements-dev.txt=pytest"],
            "-r requirements.txt -r requirements-dev.txt pytest",
        ),
        (
            vec!["requirements/tests.txt=pytest", "requirements/docs.txt=x"],
            "-r requirements/tests.txt pytest",
        ),
        (
            vec!["tests/requirements.txt=pytest"],
            "-r tests/requirements.txt pytest",
        ),
        (
            vec![
                "pyproject.toml=[build-system]\n[project.optional-dependencies]\ntest = [\"pytest\"]\ndocs = []\nDev = []\n",
            ],
            "-e '.[Dev,test]' pytest",
        ),
        (
            vec![
                "setup.cfg=[options.extras_require]\ntests =\n  pytest\n",
                "setup.py=setup()",
            ],
            "-e '.[tests]' pytest",
        ),
        (
            vec!["setup.py=setup(extras_require={'dev': ['pytest'], 'all': []})"],
            "-e '.[dev]' pytest",
        ),
        (
            vec![
                "pyproject.toml=[build-system]\n[dependency-groups]\ntests = [\"pytest\"]\ndocs = []\n",
            ],
            "-e . --group tests pytest",
        ),
        (
            vec![
                "pyproject.toml=[build-system]\n[tool.poetry.group.dev.dependencies]\npytest = \"^8\"\nfreezegun = \"*\"\n",
            ],
            "-e . freezegun pytest",
        ),
        (
            vec![
                "tox.ini=[testenv]\ndeps =\n  pytest\n  -rdeps.txt\n  py27: mock\n  hypothesis>=3\ncommands = pytest\n",
                "setup.py=setup()",
            ],
            "-r deps.txt -e . 'hypothesis>=3' pytest",
        ),
        (
            vec!["setup.py=setup(tests_require=['pytest', \"mock\"])"],
            "-e . mock pytest",
        ),
        (
            vec!["pytest.ini=addopts = --cov=x", "setup.py=setup()"],
            "-e . pytest-cov pytest",
        ),
    ] {
        assert_eq!(
            installed(&files),
            format!("{expected} => pytest"),
            "{files:?}"
        );
    }
}

#[test]
fn a_tool_is_called_as_tox_calls_it() {
    let tox = "tox.ini=[testenv]\ncommands = pytest\n[testenv:lint]\ncommands =\n  flake8 a.py\n  python -m mypy -p a\n";
    let files = [tox, "setup.cfg=[flake8]\n[mypy]\n", "setup.py=setup()"];
    assert_eq!(
        shown(&files).split(" | ").skip(1).collect::<Vec<_>>(),
        [
            ".venv/bin/python -m mypy -p a",
            ".venv/bin/python -m flake8 a.py",
            ".venv/bin/python -m pytest"
        ]
    );
}

#[test]
fn a_package_that_asks_git_for_its_version_is_told_one() {
    let files = [
        "pyproject.toml=[build-system]\nrequires = [\"setuptools-scm>=8\"]\n",
        "pytest.ini",
    ];
    assert_eq!(
        shown(&files),
        "[Python] python3 -m venv .venv && SETUPTOOLS_SCM_PRETEND_VERSION=0.0.0 .venv/bin/pip install -q -e . pytest | - | - | .venv/bin/python -m pytest"
    );
}

#[test]
fn the_tests_themselves_say_who_runs_them() {
    check(&[
        (
            vec!["test.py=import unittest"],
            "[Python] - | - | - | python3 -m unittest test.py",
        ),
        (
            vec!["test.py=print(1)"],
            "[Python] - | - | - | python3 test.py",
        ),
        (
            vec!["tests/test_a.py=import unittest"],
            "[Python] - | - | - | python3 -m unittest discover -s tests",
        ),
        (
            vec![
                "setup.py=setup()",
                "a/test/test_a.py=class A(TestCase): pass",
            ],
            "[Python] python3 -m venv .venv && .venv/bin/pip install -q -e . | - | - | .venv/bin/python -m unittest discover -s a",
        ),
    ]);
    for files in [
        vec!["tests/test_a.py=def test_a(): pass"],
        vec![
            "tests/test_a.py=import unittest",
            "tests/test_b.py=import pytest",
        ],
        vec![
            "setup.cfg",
            "a/b/tests/test_a.py=class TestA:\n  def test_a(self): pass",
        ],
    ] {
        assert_eq!(installed(&files), "pytest => pytest", "{files:?}");
    }
    let root = ["test.py=import pytest"];
    assert_eq!(installed(&root), "pytest => pytest test.py");
}

#[test]
fn no_program_is_proposed_that_nothing_installs() {
    assert_eq!(installed(&["tox.ini=[tox]"]), "tox => tox -e py");
    let bare = |program: &str| ["npx", "cargo", "npm"].contains(&program);
    for (files, expected) in [
        (
            vec!["Cargo.toml=[lints]", ".config/nextest.toml"],
            "[Cargo] - | cargo check --all-targets | - | cargo test",
        ),
        (
            vec![
                "uv.lock",
                "pyproject.toml=[build-system]\n[dependency-groups]\ndev=[\"pytest\"]",
            ],
            "[Python] python3 -m venv .venv && .venv/bin/pip install -q --upgrade pip && .venv/bin/pip install -q -e . --group dev pytest | - | - | .venv/bin/python -m pytest",
        ),
        (
            vec![
                r#"package.json={"packageManager":"pnpm@9.1.0+sha512.x","scripts":{"test":"vitest run"}}"#,
                "pnpm-lock.yaml",
            ],
            "[Node] npx --yes pnpm@9.1.0 install --frozen-lockfile | - | - | npx --yes pnpm@9.1.0 test",
        ),
        (
            vec!["go.mod", ".golangci.yml"],
            "[Go] - | go vet ./... | - | go test ./...",
        ),
        (vec!["justfile=test:\n  x\n"], "[Just] - | - | - | -"),
    ] {
        let proposal = propose_on(&tree(&files), &bare);
        assert_eq!(commands(&proposal), expected, "{files:?}");
        assert!(!proposal.notes.is_empty(), "it is said: {files:?}");
    }
    let locked =
        "[Python] uv sync --frozen --all-extras --all-groups | - | - | uv run --frozen pytest";
    assert_eq!(
        shown(&[
            "uv.lock=pytest",
            "pyproject.toml=[tool.mypy]\n[tool.pytest.ini_options]"
        ]),
        locked
    );
}

#[test]
fn nothing_is_run_twice() {
    let package = |scripts: &str| format!(r#"package.json={{"scripts":{{{scripts}}}}}"#);
    for (scripts, expected) in [
        (
            r#""lint":"eslint .","pretest":"npm run lint","test":"npm run tests-only","tests-only":"tape x","posttest":"npx npm@10 audit""#,
            "npm run lint | npm run tests-only",
        ),
        (
            r#""lint":"eslint .","pretest":"npm run lint","test":"mocha""#,
            "npm run lint | npm test --ignore-scripts",
        ),
        (
            r#""lint":"eslint .","pretest":"eslint .","test":"mocha""#,
            "npm run lint | npm test --ignore-scripts",
        ),
        (
            r#""lint":"eslint .","test":"npm run lint && npm run unit","unit":"mocha""#,
            "npm run lint | npm run unit",
        ),
        (
            r#""lint":"eslint .","test":"npm run lint && mocha""#,
            "- | npm test",
        ),
        (
            r#""lint":"eslint .","build":"tsc","pretest":"npm run build && npm run lint","test":"mocha""#,
            "- | npm test",
        ),
        (
            r#""lint":"eslint .","build":"tsc","pretest":"npm run build","test":"mocha""#,
            "npm run lint | npm test",
        ),
        (
            r#""lint":"eslint .","test":"run-s lint unit","unit":"mocha""#,
            "- | npm test",
        ),
        (
            r#""lint":"eslint .","test":"mocha""#,
            "npm run lint | npm test",
        ),
    ] {
        let files = package(scripts);
        assert_eq!(
            shown(&[&files]),
            format!("[Node] - | - | {expected}"),
            "{scripts}"
        );
    }
    let own = package(r#""eslint":"eslint a","test":"npm run eslint && nyc mocha""#);
    assert_eq!(shown(&[&own]), "[Node] - | - | - | npm test");
    let checked = package(r#""verify":"eslint a","test":"mocha""#);
    let checked = checked.replacen('{', r#"{"devDependencies":{"eslint":"9"},"#, 1);
    assert_eq!(
        shown(&[&checked, ".eslintrc.yml"]),
        "[Node] npm install | - | - | npm test"
    );
    let typed =
        package(r#""typecheck":"tsc","lint":"npm run typecheck && eslint .","test":"mocha""#);
    assert_eq!(shown(&[&typed]), "[Node] - | - | npm run lint | npm test");
    let yarn = package(r#""lint":"eslint .","pretest":"yarn lint","test":"mocha""#);
    assert_eq!(
        shown(&[&yarn, "yarn.lock"]),
        "[Node] yarn install --frozen-lockfile | - | - | yarn test"
    );
}

#[test]
fn what_only_a_nightly_compiler_builds_is_left_out_and_said() {
    let nightly = "#![feature(test)]\nextern crate test;\n";
    let bench = format!("benches/a.rs={nightly}");
    let example = format!("examples/a.rs={nightly}");
    let member = format!("crates/x/benches/a.rs={nightly}");
    for (files, expected, n_notes) in [
        (
            vec!["Cargo.toml=[package]", "benches/a.rs=use criterion;"],
            "cargo check --all-targets | - | cargo test",
            0,
        ),
        (
            vec!["Cargo.toml=[package]", &bench],
            "cargo check --bins --tests --examples | - | cargo test",
            1,
        ),
        (
            vec!["Cargo.toml=[package]", &bench, "rust-toolchain=nightly"],
            "cargo check --all-targets | - | cargo test",
            0,
        ),
        (
            vec!["Cargo.toml=[package]", &example],
            "cargo check --bins --tests --benches | - | cargo test --tests",
            1,
        ),
        (
            vec![
                "Cargo.toml=[workspace]\nmembers = [\"crates/*\"]\n[workspace.lints.rust]\n",
                &member,
            ],
            "cargo check --workspace --bins --tests --examples | cargo clippy --workspace --bins --tests --examples -- -D warnings | cargo test --workspace",
            1,
        ),
    ] {
        assert_eq!(
            shown(&files),
            format!("[Cargo] - | {expected}"),
            "{files:?}"
        );
        assert_eq!(propose(&tree(&files)).notes.len(), n_notes, "{files:?}");
    }
}

#[test]
fn what_is_proposed_can_be_read_test_by_test() {
    use checks::instrument::instrument;
    use checks::results::Format;
    for (files, expected) in [
        (vec!["requirements.txt=pytest"], Format::Pytest),
        (vec!["uv.lock", "pytest.ini"], Format::Pytest),
        (vec!["test.py=import pytest"], Format::Pytest),
        (
            vec![r#"package.json={"devDependencies":{"vitest":"1"}}"#],
            Format::Vitest,
        ),
        (
            vec![
                r#"package.json={"devDependencies":{"jest":"1"}}"#,
                "pnpm-lock.yaml",
            ],
            Format::Jest,
        ),
        (
            vec![
                r#"package.json={"devDependencies":{"mocha":"1"}}"#,
                "yarn.lock",
            ],
            Format::Mocha,
        ),
        (vec!["Cargo.toml"], Format::Cargo),
        (vec!["go.mod"], Format::GoJson),
    ] {
        let tree: MapTree = files
            .iter()
            .map(|file| file.split_once('=').unwrap_or((file, "")))
            .collect();
        let test = propose(&tree).test.expect("is proposed").command;
        let plan = instrument(&test, &tree, "/r/x");
        assert_eq!(plan.format, expected, "{test}");
    }
}
