//! Which projects have something that can be reused, and which are built from nothing.

use super::*;
use crate::tree::MapTree;

const MANIFEST: &str = r#"{"name": "a", "devDependencies": {"vitest": "^3"}}"#;
const LOCK: &str = r#"{"lockfileVersion": 3, "packages": {"": {"name": "a"}, "node_modules/vitest": {"version": "3.0.0"},
    "node_modules/esbuild": {"version": "0.25.0", "hasInstallScript": true}}}"#;
const PROJECT: &str = "[project]\nname = \"a\"\nversion = \"1\"\n";

fn node() -> MapTree {
    MapTree::new()
        .with("package.json", MANIFEST)
        .with("package-lock.json", LOCK)
        .with("src/a.ts", "")
}

fn of(tree: &MapTree, setup: &str, test: &str) -> Result<Recipe, String> {
    let checks = [
        Named {
            name: "setup",
            command: setup,
        },
        Named {
            name: "test",
            command: test,
        },
    ];
    let checks = if setup.is_empty() {
        &checks[1..]
    } else {
        &checks
    };
    recipe(tree, "", checks).map_err(|why| why.to_string())
}

#[test]
fn npm_is_reused_only_where_nothing_of_the_project_runs() {
    let found = of(&node(), "npm ci --no-audit", "npx vitest run").expect("a recipe");
    assert!(found.skips_setup);
    assert_eq!(found.installs, ["node_modules"]);
    assert_eq!(found.fixed, ["package-lock.json", "package.json"]);
    let archived = r#"{"dependencies": {"p": "file:vendor/p.tgz"}}"#;
    let archived = of(
        &node().with("b/package.json", archived),
        "npm ci",
        "npm test",
    );
    let archived = archived.expect("a recipe").fixed;
    assert!(archived.contains(&"b/vendor/p.tgz".to_owned()));
    let script = |name: &str| {
        let text = format!(r#"{{"scripts": {{"{name}": "node x.js", "test": "vitest"}}}}"#);
        node().with("package.json", &text)
    };
    let lock = |entry: &str| {
        let text = format!(r#"{{"packages": {{"node_modules/p": {entry}}}}}"#);
        node().with("package-lock.json", &text)
    };
    for (what, tree, setup) in [
        ("own script", script("postinstall"), "npm ci"),
        ("own script", script("prepare"), "npm ci"),
        (
            "a script in a workspace",
            node().with("b/package.json", r#"{"scripts": {"install": "x"}}"#),
            "npm ci",
        ),
        (
            "a package's script",
            lock(r#"{"version": "1.0.0", "hasInstallScript": true}"#),
            "npm ci",
        ),
        ("a folder", lock(r#"{"resolved": "file:p"}"#), "npm ci"),
        (
            "an archive elsewhere",
            node().with(
                "package.json",
                r#"{"dependencies": {"p": "file:../p.tgz"}}"#,
            ),
            "npm ci",
        ),
        (
            "a local package",
            node().with("package.json", r#"{"dependencies": {"p": "file:./p"}}"#),
            "npm ci",
        ),
        (
            "no lock",
            MapTree::new().with("package.json", MANIFEST),
            "npm ci",
        ),
        ("another installer", node().with("yarn.lock", ""), "npm ci"),
        ("compiled", node().with("binding.gyp", ""), "npm ci"),
        ("more than installing", node(), "npm ci && npm run build"),
        ("elsewhere", node(), "npm ci --prefix other"),
        ("one more package", node(), "npm install left-pad"),
        ("unknown", node(), "pnpm install"),
        ("not plain", node(), "npm ci | cat"),
    ] {
        assert!(of(&tree, setup, "npm test").is_err(), "{what}");
    }
}

#[test]
fn an_environment_is_reused_only_where_the_project_is_at_most_linked() {
    let venv = "python3 -m venv .venv && .venv/bin/pip install -q";
    let lists = MapTree::new().with(
        "requirements.txt",
        "pytest==8.0 # tests\n\nattrs>=1 ; python_version > '3'\n",
    );
    let found = of(&lists, &format!("{venv} -r requirements.txt"), "pytest").expect("a recipe");
    assert_eq!(found.installs, [".venv"]);
    assert_eq!(found.fixed, ["requirements.txt"]);
    let linked = MapTree::new()
        .with("pyproject.toml", PROJECT)
        .with("src/a/b.py", "");
    let link = format!("{venv} -e '.[test]' pytest");
    let found = of(&linked, &link, "pytest").expect("a recipe");
    let more = of(&linked.clone().with("src/c/d.py", ""), &link, "pytest").expect("a recipe");
    assert_ne!(found.also, more.also, "a new name at the top");
    let same = of(&linked.clone().with("src/a/d.py", ""), &link, "pytest").expect("a recipe");
    assert_eq!(found.also, same.also, "a new name below");
    assert!(of(&linked, "uv sync --frozen", "uv run pytest").is_ok());
    let with = |path: &str, text: &str| linked.clone().with(path, text);
    let backend = "[build-system]\nrequires = []\nbuild-backend = \"maturin\"\n";
    let dynamic = "[project]\nname = \"a\"\ndynamic = [\"version\"]\n";
    for (what, tree, setup) in [
        ("a copy of the project", linked.clone(), format!("{venv} .")),
        ("a program", with("setup.py", ""), link.clone()),
        ("compiled", with("pyproject.toml", backend), link.clone()),
        ("dynamic", with("pyproject.toml", dynamic), link.clone()),
        (
            "reads files",
            with("setup.cfg", "version = attr: a.v"),
            link.clone(),
        ),
        (
            "a list of lists",
            lists.clone().with("requirements.txt", "-r more.txt\n"),
            format!("{venv} -r requirements.txt"),
        ),
        (
            "a path in a list",
            lists.clone().with("requirements.txt", "./pkg\n"),
            format!("{venv} -r requirements.txt"),
        ),
        ("a path", lists.clone(), format!("{venv} ./wheels/a.whl")),
        (
            "an address",
            lists.clone(),
            format!("{venv} git+ssh://host/a"),
        ),
        (
            "the machine's own",
            lists.clone(),
            "pip install -r requirements.txt".to_owned(),
        ),
        ("another tool", lists, "poetry install".to_owned()),
    ] {
        assert!(of(&tree, &setup, "pytest").is_err(), "{what}");
    }
}

#[test]
fn cargo_is_reused_only_where_cargo_says_where_it_builds() {
    let tree = MapTree::new()
        .with("Cargo.toml", "")
        .with("Cargo.lock", "")
        .with("rust-toolchain.toml", "")
        .with(".cargo/config.toml", "[net]\noffline = true\n");
    let found = of(&tree, "", "cargo test").expect("a recipe");
    assert_eq!(found.builds, ["cargo test --no-run"]);
    assert_eq!(found.cargo_target.as_deref(), Some("target"));
    assert!(!found.skips_setup);
    assert_eq!(found.fixed, [".cargo/config.toml", "rust-toolchain.toml"]);
    assert_eq!(found.noticed, ["Cargo.lock", "Cargo.toml"]);
    for key in ["target-dir = 'x'", "rustc-wrapper = 'sccache'"] {
        let text = format!("[build]\n{key}\n");
        let tree = tree.clone().with("sub/.cargo/config.toml", &text);
        assert!(of(&tree, "", "cargo test").is_err(), "{key}");
    }
    assert!(of(&tree, "", "make test").is_err());
    assert!(of(&MapTree::new(), "", "cargo test").is_err(), "no crate");
    // A setup that is no installer runs in every tree; what cargo built is reused all the same.
    let both = of(&tree, "./setup.sh", "cargo test").expect("a recipe");
    assert!(!both.skips_setup && both.cargo_target.is_some());
}

#[test]
fn own_outputs_are_kept_only_where_what_they_are_made_of_can_be_seen() {
    let tree = MapTree::new().with("Cargo.toml", "").with("Cargo.lock", "");
    let config = |text: &str| tree.clone().with(".cargo/config.toml", text);
    for (what, tree, setup, test, expected) in [
        ("no setup", tree.clone(), "", "cargo test", true),
        (
            "a fetch",
            tree.clone(),
            "cargo fetch --locked",
            "cargo test",
            true,
        ),
        ("a script", tree.clone(), "./setup.sh", "cargo test", false),
        (
            "a fetch and more",
            tree.clone(),
            "cargo fetch && ./x",
            "cargo test",
            false,
        ),
        (
            "no lock",
            MapTree::new().with("Cargo.toml", ""),
            "",
            "cargo test",
            false,
        ),
        (
            "known flags",
            tree.clone(),
            "",
            "RUSTFLAGS='-D warnings' cargo test",
            true,
        ),
        (
            "flags",
            tree.clone(),
            "",
            "RUSTFLAGS=-Clink-arg=-Tx.ld cargo test",
            false,
        ),
        (
            "a configuration",
            config("[net]\noffline = true\n"),
            "",
            "cargo test",
            true,
        ),
        (
            "its flags",
            config("[build]\nrustflags = []\n"),
            "",
            "cargo test",
            false,
        ),
    ] {
        let found = of(&tree, setup, test).expect("a recipe");
        assert_eq!(found.keeps_own, expected, "{what}");
    }
}

#[test]
fn unknown_tools_are_a_reason() {
    for (tree, setup, test, words) in [
        (
            MapTree::new(),
            "",
            "make test",
            "nothing is built that could be reused",
        ),
        (
            MapTree::new(),
            "./setup.sh",
            "sh t.sh",
            "nobody knows what `./setup.sh` reuses",
        ),
        (
            MapTree::new().with("Cargo.toml", ""),
            "",
            "just test",
            "nobody knows what `just test` reuses",
        ),
    ] {
        assert_eq!(of(&tree, setup, test).expect_err("cold"), words);
    }
}
