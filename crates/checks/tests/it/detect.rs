//! What is proposed for which project.

use checks::MapTree;
use checks::detect::{Proposed, propose};

/// A project of files, each `path` or `path=text`.
fn shown(files: &[&str]) -> String {
    let tree: MapTree = files
        .iter()
        .map(|file| file.split_once('=').unwrap_or((file, "")))
        .collect();
    let proposal = propose(&tree);
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
                "uv.lock",
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
            "[Python] - | - | - | python3 -m pytest",
        ),
        (
            vec!["tests/test_a.py"],
            "[Python] - | - | - | python3 -m unittest discover",
        ),
        (vec!["tox.ini=[tox]"], "[Python] - | - | - | tox"),
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

#[test]
fn what_is_proposed_can_be_read_test_by_test() {
    use checks::instrument::instrument;
    use checks::results::Format;
    for (files, expected) in [
        (vec!["requirements.txt=pytest"], Format::Pytest),
        (vec!["uv.lock", "pytest.ini"], Format::Pytest),
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
