//! Which files are what.

use checks::MapTree;
use checks::detect::Ecosystem;
use checks::rules::{TestPaths, is_agent_config, is_agent_guidance, reads_source_text, shadows};

#[test]
fn tests_are_known_by_their_paths() {
    use Ecosystem::{Cargo, Go, Jvm, Make, Node, Python};
    for (ecosystems, path, expected) in [
        (vec![Cargo], "tests/a.rs", true),
        (vec![Cargo], "crates/x/tests/it/a.rs", true),
        (vec![Cargo], "crates/x/tests/data/a.json", true),
        (vec![Cargo], "src/tests/a.rs", true),
        (vec![Cargo], "src/tests.rs", true),
        (vec![Cargo], "src/target/mod.rs", false),
        (vec![Node], "spec/addSpec.js", true),
        (vec![Node], "src/spec.js", false),
        (vec![], "t/add.t", true),
        (vec![Cargo], "src/lib.rs", false),
        (vec![Cargo, Node], "src/x.test.rs", false),
        (vec![Cargo, Node], "test/a.rs", false),
        (vec![Cargo, Make], "test_a.rs", false),
        (vec![Node], "src/a.test.ts", true),
        (vec![Node], "src/a.spec.js", true),
        (vec![Node], "src/__tests__/a.ts", true),
        (vec![Node], "e2e/login.ts", true),
        (vec![Node], "src/contest.ts", false),
        (vec![Node], "node_modules/x/test/a.js", false),
        (vec![Python], "tests/data.json", true),
        (vec![Python], "pkg/test_a.py", true),
        (vec![Python], "pkg/a_test.py", true),
        (vec![Python], "conftest.py", true),
        (vec![Python], "pkg/testing.py", false),
        (vec![Go], "a/b_test.go", true),
        (vec![Go], "a/testdata/x", true),
        (vec![Go], "a/b.go", false),
        (vec![Jvm], "src/test/java/A.java", true),
        (vec![Jvm], "src/main/java/A.java", false),
        (vec![Make], "test/a.c", true),
        (vec![Make], "a_test.c", true),
        (vec![], "check.bats", true),
        (vec![], "main.c", false),
        (vec![], "../tests/a.c", false),
        (vec![], "/tests/a.c", false),
    ] {
        assert_eq!(
            TestPaths::of(&ecosystems, &[]).is_test(path),
            expected,
            "{ecosystems:?} {path}"
        );
    }
    let configured = TestPaths::of(&[Cargo], &["qa/**".to_owned()]);
    assert!(configured.is_test("qa/a.rs") && !configured.is_test("tests/a.rs"));
    let braces = TestPaths::of(&[Cargo], &["**/*.{test,spec}.ts".to_owned()]);
    for (path, expected) in [
        ("src/a.test.ts", true),
        ("a.spec.ts", true),
        ("src/a.ts", false),
        ("node_modules/x/a.test.ts", false),
    ] {
        assert_eq!(braces.is_test(path), expected, "{path}");
    }
    // A journal of an older version may hold a pattern that nobody can read.
    let unreadable = TestPaths::of(&[Cargo], &["a[b".to_owned()]);
    assert!(!unreadable.is_test("tests/a.rs") && !unreadable.is_test("a[b"));
}

#[test]
fn shadows_are_found() {
    let base = MapTree::new()
        .with("Cargo.toml", "")
        .with("Makefile", "test:\n\tpytest\n")
        .with("pkg/__init__.py", "")
        .with("vendor/node_modules/x.js", "")
        .with("tests/conftest.py", "");
    for (command, path, expected) in [
        ("pytest", "pytest.py", true),
        ("pytest", "pytest/__init__.py", true),
        ("pytest", "src/pytest.py", true),
        ("pytest", "conftest.py", true),
        ("pytest", "tests/unit/conftest.py", false),
        ("pytest", "lib/sitecustomize.py", true),
        ("pytest", "x.pth", true),
        ("cargo test", "pytest.py", false),
        ("python3 -m checker", "checker.py", true),
        ("python3 -m pkg", "pkg/new.py", false),
        ("npm test", "node_modules/vitest/index.js", true),
        ("npm test", "vendor/node_modules/y.js", false),
        ("npm test", "bin/npm", true),
        ("npm test", "npm", true),
        ("cargo test", "target/debug/x", true),
        ("cargo test", "src/target/mod.rs", false),
        ("make test", "GNUmakefile", true),
        ("cargo test", "GNUmakefile", false),
        ("sh run-tests.sh", "run-tests.sh", true),
        ("sh run.sh", "run.sh", false),
        ("python3 main.py | grep -q hello", "main.py", false),
        (
            "if [ -f one.txt ]; then grep -q more one.txt; fi",
            "one.txt",
            false,
        ),
        ("cargo test", "src/lib.rs", false),
        ("pytest", "__pycache__/a.pyc", true),
    ] {
        let found = shadows(&[command], &base, &[path.to_owned()]);
        assert_eq!(!found.is_empty(), expected, "{command}: {path}: {found:?}");
    }
    assert!(
        shadows(&["make"], &base, &["Makefile".to_owned()]).is_empty(),
        "what the base has is no shadow"
    );
}

#[test]
fn agent_files_are_known() {
    for path in [
        ".claude/settings.json",
        "sub/.mcp.json",
        ".codex/config.toml",
        ".gemini/x",
        "opencode.json",
    ] {
        assert!(is_agent_config(path), "{path}");
    }
    for path in ["AGENTS.md", "sub/CLAUDE.md"] {
        assert!(is_agent_guidance(path) && !is_agent_config(path), "{path}");
    }
    assert!(!is_agent_config("src/claude.rs"));
}

#[test]
fn tests_that_read_source_are_told() {
    for (path, text, expected) in [
        (
            "a.test.js",
            "const s = readFileSync('src/a.js', 'utf8')",
            Some("line 1 opens `src/a.js` as text"),
        ),
        (
            "a.test.js",
            "fs.readFileSync(\n  new URL('../src/a.ts', import.meta.url))",
            Some("line 1 opens `../src/a.ts` as text"),
        ),
        (
            "test_a.py",
            "text = open(\"calc.py\").read()",
            Some("line 1 opens `calc.py` as text"),
        ),
        (
            "test_a.py",
            "import inspect\ninspect.getsource(add)",
            Some("line 2 reads the source of what it tests"),
        ),
        (
            "tests/a.rs",
            "let s = include_str!(\"../src/lib.rs\");",
            Some("line 1 opens `../src/lib.rs` as text"),
        ),
        (
            "tests/a.rs",
            "std::fs::read_to_string(\"src/lib.rs\")",
            Some("line 1 opens `src/lib.rs` as text"),
        ),
        (
            "t.sh",
            "grep -q 'fn add' src/lib.rs",
            Some("line 1 opens `src/lib.rs` as text"),
        ),
        ("tests/a.rs", "include_str!(\"fixtures/a.rs\")", None),
        ("a.test.js", "readFileSync('test/data/a.js')", None),
        ("a.test.js", "import { a } from '../src/a.js'", None),
        ("test_a.py", "# open(\"calc.py\")", None),
        ("t.sh", "./src/tool | grep ok", None),
        ("a_test.go", "os.ReadFile(\"out.txt\")", None),
    ] {
        assert_eq!(
            reads_source_text(path, text, &|_| true).as_deref(),
            expected,
            "{text}"
        );
    }
}
