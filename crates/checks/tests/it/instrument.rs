//! Which commands are made readable, and how.

use checks::MapTree;
use checks::instrument::{instrument, instrument_some};

fn project() -> MapTree {
    MapTree::new()
        .with(
            "package.json",
            r#"{"scripts": {"test": "vitest run", "unit": "jest", "both": "tsc && vitest run", "after": "vitest run && echo",
                "deep": "npm run unit", "node": "node --test", "spec": "mocha --recursive", "piped": "vitest run | tee x"}}"#,
        )
        .with("web/package.json", r#"{"scripts": {"test": "jest"}}"#)
        .with("Makefile", "all: test\n\ntest: build\n\t@pytest -q\n\nbuild:\n\tcc x.c\n\nunit:\n\tcargo test\n\nnothing:\n\techo\n")
        .with("justfile", "default: check\n\ncheck:\n    cargo nextest run\n")
        .with("run-tests.sh", "#!/bin/sh\nset -e\npytest tests\n")
        .with("check", "#!/usr/bin/env bash\ngo test ./...\n")
}

fn shown(command: &str) -> String {
    let plan = instrument(command, &project(), "/r/x.xml");
    let env: String = plan
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value} "))
        .collect();
    let report = if plan.report.is_some() {
        " +report"
    } else {
        ""
    };
    format!("{env}{} [{:?}{report}]", plan.command, plan.format)
}

const PYTEST: &str =
    "PYTEST_ADDOPTS=--junitxml=/r/x.xml -o junit_family=xunit1 --continue-on-collection-errors";
const VITEST: &str = "--reporter=default --reporter=junit --outputFile.junit=/r/x.xml";

#[test]
fn commands_become_readable() {
    for (command, expected) in [
        ("cargo test", "cargo test --no-fail-fast [Cargo]".to_owned()),
        (
            "cargo +nightly test -p x -- --nocapture",
            "cargo +nightly test -p x --no-fail-fast -- --nocapture [Cargo]".to_owned(),
        ),
        ("cargo test --no-fail-fast", "cargo test --no-fail-fast [Cargo]".to_owned()),
        ("cd x && cargo test", "cd x && cargo test --no-fail-fast [Cargo]".to_owned()),
        ("cargo test | tee log", "cargo test | tee log [Cargo]".to_owned()),
        (
            "cargo nextest run",
            "NEXTEST_STATUS_LEVEL=all NEXTEST_HIDE_PROGRESS_BAR=1 cargo nextest run --no-fail-fast [Nextest]"
                .to_owned(),
        ),
        ("go test ./...", "go test -json ./... [GoJson]".to_owned()),
        (
            "go vet ./... && go test -race ./...",
            "go vet ./... && go test -json -race ./... [GoJson]".to_owned(),
        ),
        ("pytest", format!("{PYTEST} pytest [Pytest +report]")),
        ("python3 -m pytest -x", format!("{PYTEST} python3 -m pytest  [Pytest +report]")),
        ("uv run --frozen pytest | cat", format!("{PYTEST} uv run --frozen pytest | cat [Pytest +report]")),
        ("poetry run pytest", format!("{PYTEST} poetry run pytest [Pytest +report]")),
        ("make test", format!("{PYTEST} make test [Pytest +report]")),
        ("make", format!("{PYTEST} make [Pytest +report]")),
        ("sh run-tests.sh", format!("{PYTEST} sh run-tests.sh [Pytest +report]")),
        (
            "tox",
            format!(
                "{PYTEST} TOX_OVERRIDE=testenv.pass_env+=PYTEST_ADDOPTS TOX_TESTENV_PASSENV=PYTEST_ADDOPTS tox [Pytest +report]"
            ),
        ),
        ("make unit", "make unit [Cargo]".to_owned()),
        ("make nothing", "make nothing [Sniff]".to_owned()),
        ("just", "NEXTEST_STATUS_LEVEL=all NEXTEST_HIDE_PROGRESS_BAR=1 just [Nextest]".to_owned()),
        ("./check", "./check [GoJson]".to_owned()),
        ("npx vitest run", format!("npx vitest run {VITEST} [Vitest +report]")),
        ("npm test", format!("npm test -- {VITEST} [Vitest +report]")),
        ("npm test -- -t x", format!("npm test -- -t x {VITEST} [Vitest +report]")),
        ("npm run both", format!("npm run both -- {VITEST} [Vitest +report]")),
        ("npm run after", "npm run after [Vitest]".to_owned()),
        ("npm run piped", "npm run piped [Vitest]".to_owned()),
        ("pnpm test", format!("pnpm test {VITEST} [Vitest +report]")),
        ("yarn test", format!("yarn test {VITEST} [Vitest +report]")),
        ("bun run test", format!("bun run test {VITEST} [Vitest +report]")),
        ("npx vitest run --reporter=dot", "npx vitest run --reporter=dot [Vitest]".to_owned()),
        ("npm run unit", "npm run unit -- --json --outputFile=/r/x.xml [Jest +report]".to_owned()),
        ("npm run deep", "npm run deep [Jest]".to_owned()),
        (
            "cd web && npm test",
            "cd web && npm test -- --json --outputFile=/r/x.xml [Jest +report]".to_owned(),
        ),
        (
            "npm run spec",
            "npm run spec -- --reporter=json --reporter-option=output=/r/x.xml [Mocha +report]".to_owned(),
        ),
        ("node --test", "NODE_OPTIONS=--test-reporter=tap node --test [Sniff]".to_owned()),
        ("npm run node", "NODE_OPTIONS=--test-reporter=tap npm run node [Sniff]".to_owned()),
        ("node --test --test-reporter=spec", "node --test --test-reporter=spec [Sniff]".to_owned()),
        ("bun test", "bun test --reporter=junit --reporter-outfile=/r/x.xml [Bun +report]".to_owned()),
        ("cargo test && npm test", "cargo test && npm test [Sniff]".to_owned()),
        ("mvn -q test", "mvn -q test [Sniff]".to_owned()),
        ("npm run missing", "npm run missing [Sniff]".to_owned()),
        ("", " [Sniff]".to_owned()),
    ] {
        assert_eq!(shown(command), expected, "{command}");
    }
}

#[test]
fn a_path_with_spaces_stays_one_word() {
    let plan = instrument("npx jest", &MapTree::new(), "/r/a b.json");
    assert_eq!(plan.command, "npx jest --json '--outputFile=/r/a b.json'");
}

#[test]
fn some_files_are_run_alone_where_the_runner_can_be_told() {
    let shown = |command: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let plan = instrument_some(command, &project(), "/r", &files);
        let env = plan.env.into_iter().map(|(_, value)| value + " ");
        env.collect::<String>() + &plan.command
    };
    let pytest = "--junitxml=/r -o junit_family=xunit1 --continue-on-collection-errors";
    for (command, files, expected) in [
        ("pytest", vec!["tests/test_a.py"], format!("-k test_a.py {pytest} pytest")),
        (
            "make test",
            vec!["tests/test_a.py", "b/test_b.py"],
            format!("-k 'test_a.py or test_b.py' {pytest} make test"),
        ),
        (
            "npx jest",
            vec!["src/a.test.ts"],
            "npx jest --json --outputFile=/r a.test.ts".to_owned(),
        ),
        (
            "npm test",
            vec!["src/a.test.ts", "b.test.ts"],
            "npm test -- --reporter=default --reporter=junit --outputFile.junit=/r a.test.ts b.test.ts"
                .to_owned(),
        ),
        // Names that mean something else to a runner, and runners that cannot be told: everything.
        ("npx jest", vec!["[id].test.ts"], "npx jest --json --outputFile=/r".to_owned()),
        ("npx jest", vec!["a.test.ts", "-u"], "npx jest --json --outputFile=/r".to_owned()),
        ("pytest", vec!["a b.py"], format!("{pytest} pytest")),
        ("cargo test", vec!["tests/a.rs"], "cargo test --no-fail-fast".to_owned()),
        ("pytest", vec![], format!("{pytest} pytest")),
    ] {
        assert_eq!(shown(command, &files), expected, "{command} {files:?}");
    }
}
