//! Tables of what becomes of tests in product files.

use proptest::prelude::*;

use super::*;

const RUST: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
const TESTS: &str = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";

fn replaced(text: &str) -> Items {
    Items::Replaced(text.to_owned())
}

fn unsure(names: &[&str]) -> Items {
    Items::Unsure(names.iter().map(|name| (*name).to_owned()).collect())
}

#[track_caller]
fn check(path: &str, base: &str, candidate: &str, expected: &Items) {
    let found = with_base_tests(path, base, candidate);
    assert_eq!(found, *expected, "{candidate}");
    // What was put in place stays in place.
    if let Items::Replaced(text) = &found {
        assert_eq!(with_base_tests(path, base, text), Items::Same, "{text}");
    }
}

#[test]
fn a_rust_module_of_tests_is_the_base_s() {
    let base = format!("{RUST}\n{TESTS}");
    let twice = "pub fn double(a: i32) -> i32 { a * 2 }\n";
    for (candidate, expected) in [
        (base.clone(), Items::Same),
        // New code, the same tests; tests in another place.
        (format!("{twice}{base}"), Items::Same),
        (format!("{TESTS}{twice}{RUST}"), Items::Same),
        // Weakened.
        (
            format!(
                "{RUST}{twice}\n{}",
                TESTS.replace("assert_eq!(add(1, 2), 3)", "add(1, 2)")
            ),
            replaced(&format!("{RUST}{twice}\n{TESTS}")),
        ),
        // Gone.
        (
            format!("{RUST}{twice}"),
            replaced(&format!("{RUST}{twice}\n{}\n", TESTS.trim_end())),
        ),
        // Behind another condition, or behind none.
        (
            format!(
                "{RUST}\n{}",
                TESTS.replace("cfg(test)", "cfg(all(test, feature = \"x\"))")
            ),
            replaced(&base),
        ),
        (
            format!("{RUST}\n{}", TESTS.replace("cfg(test)", "cfg(any())")),
            replaced(&base),
        ),
        (
            format!("{RUST}\n{}", TESTS.replace("#[cfg(test)]\n", "")),
            replaced(&base),
        ),
        (
            format!("{RUST}\n#[cfg(test)]\nmod tests;\n"),
            replaced(&base),
        ),
        (
            format!("{RUST}\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\n"),
            replaced(&base),
        ),
        // Hidden in strings and comments.
        (
            format!("const A: &str = r#\"{TESTS}\"#;\n{RUST}"),
            replaced(&format!(
                "const A: &str = r#\"{TESTS}\"#;\n{RUST}\n{}\n",
                TESTS.trim_end()
            )),
        ),
        (
            format!("/* /* */ {TESTS} */\n{RUST}"),
            replaced(&format!(
                "/* /* */ {TESTS} */\n{RUST}\n{}\n",
                TESTS.trim_end()
            )),
        ),
        // More tests than before.
        (
            format!("{base}#[test]\nfn more() {{}}\n"),
            replaced(&format!("{base}\n")),
        ),
        // What cannot be read.
        (
            format!("{RUST}\n}}"),
            unsure(&["tests::use super :: * ;", "tests::adds"]),
        ),
    ] {
        check("src/lib.rs", &base, &candidate, &expected);
    }
}

#[test]
fn other_rust_items_for_tests_are_the_base_s() {
    for (base, candidate, expected) in [
        // A function of its own, with attributes and documentation.
        (
            "fn a() {}\n/// Says.\n#[test]\n#[should_panic]\nfn t() { a() }\n",
            "fn a() {}\n#[test]\nfn t() {}\n",
            replaced("fn a() {}\n/// Says.\n#[test]\n#[should_panic]\nfn t() { a() }\n"),
        ),
        (
            "#[tokio::test]\nasync fn t() { a() }",
            "",
            replaced("\n#[tokio::test]\nasync fn t() { a() }\n"),
        ),
        // Helpers.
        (
            "#[cfg(test)]\nfn helper() -> i32 { 1 }\n",
            "#[cfg(test)]\npub(crate) fn helper() -> i32 { 2 }\n",
            replaced("#[cfg(test)]\nfn helper() -> i32 { 1 }\n"),
        ),
        (
            "#[cfg(test)]\nuse std::fmt;\nfn a() {}",
            "#[cfg(test)]\nuse crate::fake as fmt;\nfn a() {}",
            replaced("\nfn a() {}\n#[cfg(test)]\nuse std::fmt;\n"),
        ),
        (
            "#[cfg(test)]\nconst A: B = B { c: 1 };\n",
            "#[cfg(test)]\nconst A: B = B { c: 2 };\n",
            replaced("#[cfg(test)]\nconst A: B = B { c: 1 };\n"),
        ),
        // Product code that only looks like tests.
        ("fn test() {}\n", "fn test() { b() }\n", Items::Same),
        (
            "mod tests { pub fn a() {} }",
            "mod tests { pub fn b() {} }",
            Items::Same,
        ),
        (
            "#[cfg(feature = \"test\")]\nfn a() {}",
            "fn a() {}",
            Items::Same,
        ),
        (
            "#[cfg(not(test))]\nfn a() {}",
            "#[cfg(not(test))]\nfn a() { b() }",
            Items::Same,
        ),
        (
            "fn a() { #[cfg(test)] b(); }",
            "fn a() { c(); }",
            Items::Same,
        ),
        // A whole file.
        (
            "#![cfg(test)]\nfn a() {}",
            "fn b() {}",
            replaced("#![cfg(test)]\nfn a() {}"),
        ),
        (
            "mod t {\n#![cfg(test)]\nfn a() {}\n}",
            "mod t {}",
            replaced("mod t {\n#![cfg(test)]\nfn a() {}\n}"),
        ),
    ] {
        check("src/lib.rs", base, candidate, &expected);
    }
}

#[test]
fn rust_items_within_others_are_the_base_s() {
    for (base, candidate, expected) in [
        // In a module, in an `impl`, in a macro.
        (
            "mod a {\n    fn b() {}\n    #[test]\n    fn t() { b() }\n}\n",
            "mod a {\n    fn b() {}\n}\n",
            replaced("mod a {\n    fn b() {}\n\n#[test]\n    fn t() { b() }\n}\n"),
        ),
        (
            "impl A {\n    #[cfg(test)]\n    fn x(&self) -> u8 { 1 }\n}\n",
            "impl A {\n    #[cfg(test)]\n    fn x(&self) -> u8 { b'}' }\n}\n",
            replaced("impl A {\n    #[cfg(test)]\n    fn x(&self) -> u8 { 1 }\n}\n"),
        ),
        (
            "proptest! {\n #[test]\n fn t(a in 0..9) { b(a) }\n}",
            "proptest! {\n #[test]\n fn t(a in 0..9) { }\n}",
            replaced("proptest! {\n #[test]\n fn t(a in 0..9) { b(a) }\n}"),
        ),
        // A place that is gone.
        (
            "mod a {\n    #[test]\n    fn t() { b() }\n}\n",
            "fn c() {}",
            unsure(&["a::t"]),
        ),
        // A helper with an opposite stays, or tests would not build.
        (
            "#[test]\nfn t() { a() }\n",
            "#[cfg(test)]\nfn now() {}\n#[cfg(not(test))]\nfn now() {}\n#[test]\nfn t() { }\n",
            replaced(
                "#[cfg(test)]\nfn now() {}\n#[cfg(not(test))]\nfn now() {}\n#[test]\nfn t() { a() }\n",
            ),
        ),
    ] {
        check("src/lib.rs", base, candidate, &expected);
    }
}

#[test]
fn a_doc_test_cannot_be_put_back() {
    let base =
        "/// Adds.\n///\n/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\npub fn add() {}\n";
    for (candidate, expected) in [
        (base.replace("Adds.", "Sums up."), Items::Same),
        (
            base.replace("pub fn add", "#[inline]\npub fn add"),
            Items::Same,
        ),
        (
            format!("{base}/// ```\n/// more();\n/// ```\nfn b() {{}}"),
            Items::Same,
        ),
        (base.replace(", 3", ", 4"), unsure(&["add"])),
        (
            base.replace("/// ```\n/// assert", "/// ```ignore\n/// assert"),
            unsure(&["add"]),
        ),
        (
            base.replace("/// ```\n/// assert", "/// ```text\n/// assert"),
            unsure(&["add"]),
        ),
        (base.replace("///", "//"), unsure(&["add"])),
        ("pub fn add() {}".to_owned(), unsure(&["add"])),
    ] {
        check("src/lib.rs", base, &candidate, &expected);
    }
    let text = "//! ```text\n//! a\n//! ```\nfn a() {}";
    check("src/lib.rs", text, "fn a() {}", &Items::Same);
    let inner = "//! ```rust\n//! a();\n//! ```\n\n#[test]\nfn t() { a() }";
    check(
        "src/lib.rs",
        inner,
        "#[test]\nfn t() {}",
        &unsure(&["t", "crate"]),
    );
    // A function that is put between the file's documentation and another changes no test of either.
    let led = format!("//! Sums.\n\n{base}");
    let first = "/// ```\n/// more();\n/// ```\nfn more() {}\n";
    let more = format!("//! Sums.\n\n{first}\n{base}");
    check("src/lib.rs", &led, &more, &Items::Same);
    let block = "/**\n * ```\n * a();\n * ```\n */\nfn a() {}";
    check("src/lib.rs", block, "fn a() {}", &unsure(&["a"]));
}

#[test]
fn blocks_for_vitest_are_the_base_s() {
    let product = "export const add = (a, b) => a + b\n";
    let block = "if (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest\n  it('adds', () => { expect(add(1, 2)).toBe(3) })\n}\n";
    let base = format!("{product}{block}");
    for (candidate, expected) in [
        (format!("export const x = /}}/\n{base}"), Items::Same),
        (base.replace(".toBe(3)", ""), replaced(&base)),
        (
            product.to_owned(),
            replaced(&format!("{product}\n{}\n", block.trim_end())),
        ),
        (
            format!("{base}if (import.meta.vitest) {{ }}"),
            replaced(&base),
        ),
        (
            format!(
                "{product}const a = `${{`{{`}}`\n{}",
                block.replace("toBe(3)", "toBe(4)")
            ),
            replaced(&format!("{product}const a = `${{`{{`}}`\n{block}")),
        ),
        (
            format!("{product}const v = import.meta.vitest; if (v) {{ v.it('adds', () => {{}}) }}"),
            unsure(&["adds"]),
        ),
        (format!("{base}}}"), unsure(&["adds"])),
    ] {
        check("src/calc.ts", &base, &candidate, &expected);
    }
    check(
        "src/calc.ts",
        product,
        &format!("{product}{product}"),
        &Items::Same,
    );
}

#[test]
fn doctests_of_python_cannot_be_put_back() {
    let base = "class A:\n    def add(a, b):\n        \"\"\"Adds.\n\n        >>> add(1, 2)\n        3\n        \"\"\"\n        return a + b\n";
    for (candidate, expected) in [
        (base.replace("a + b", "b + a"), Items::Same),
        (base.replace("Adds", "Sums"), Items::Same),
        (
            base.replace(
                "        3\n",
                "        3\n        >>> add(2, 2)\n        4\n",
            ),
            Items::Same,
        ),
        (
            base.replace("        3\n", "        4\n"),
            unsure(&["A::add"]),
        ),
        (base.replace(">>>", "$"), unsure(&["A::add"])),
        (String::new(), unsure(&["A::add"])),
    ] {
        check("calc.py", base, &candidate, &expected);
    }
    check(
        "calc.py",
        "\"\"\"\n>>> a\n1\n\"\"\"",
        "x = 1",
        &unsure(&["module"]),
    );
    check("calc.py", "def a(): pass", "def b(): pass", &Items::Same);
    check("calc.sh", "echo '>>> a'", "echo", &Items::Same);
}

#[test]
fn the_tests_of_a_file_are() {
    for (path, text, expected) in [
        (
            "src/lib.rs",
            "#[cfg(test)] mod tests { use super::*; #[test] /* x */ fn a() { b(); } fn c() {} mod d { #[rstest] #[case(1)] async fn e(x: u8) {} } }",
            &[
                ("tests::a", "# [ test ] ( ) { b ( ) ; }"),
                (
                    "tests::d::e",
                    "# [ rstest ] # [ case ( 1 ) ] ( x : u8 ) { }",
                ),
            ][..],
        ),
        (
            "tests/api.rs",
            "#[test]\nfn zero() { a() }\nfn helper() {}",
            &[("zero", "# [ test ] ( ) { a ( ) }")],
        ),
        (
            "tests/test_a.py",
            "import x\n@x.mark\ndef test_a(b,\n  c):\n  assert b # why\n\nclass TestB:\n    async def test_c(self):\n        if a:\n            b()\n\n        c()\ndef helper():\n    def test_inner(): pass\n",
            &[
                ("test_a", "@ x . mark\n( b , c ) :\n assert b"),
                ("TestB::test_c", "( self ) :\n if a :\n  b ( )\n c ( )"),
            ],
        ),
        (
            "tests/a.test.ts",
            "import { test } from 'x';\ndescribe('calc', () => {\n  it('adds', () => { a() });\n  test.skip(\"more\", b);\n});\ntest.each([1])('each %i', n => n);\ntest(name, () => {});\nx.test('no');\n/a/.test('no');",
            &[
                ("calc > adds", ", ( ) => { a ( ) }"),
                ("calc > more", ". skip , b"),
                ("each %i", ". each ( [ 1 ] ) , n => n"),
            ],
        ),
        ("tests/a.sh", "test a = b", &[]),
        ("README.md", "test('a', () => {})", &[]),
    ] {
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(name, body)| ((*name).to_owned(), (*body).to_owned()))
            .collect();
        assert_eq!(test_items(path, text), expected, "{path}");
    }
}

#[test]
fn large_and_deep_files_are_read_in_time() {
    for (path, piece) in [
        ("a.rs", "#[cfg(test)] mod a { "),
        ("a.rs", "#[test] fn a() {} "),
        ("a.rs", "/// ```\n/// a\n/// ```\nfn a() {} "),
        ("a.rs", "/*"),
        ("a.rs", "'r#\""),
        ("a.ts", "if(import.meta.vitest){}"),
        ("a.ts", "test('a', () => {"),
        ("a.ts", "=/[ "),
        ("a.ts", "`${"),
        ("a.ts", "if("),
        ("a.py", "def test_a():\n '''\n >>> a\n '''\n"),
        ("a.py", "rbf"),
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let _ = with_base_tests(path, &text, &format!("{text} "));
        let _ = with_base_tests(path, "#[test] fn a() {}", &text);
        let _ = test_items(path, &text);
    }
}

const PIECES: &str = "(#\\[cfg\\(test\\)\\]|#\\[test\\]|fn a\\(\\)|mod b|\\{|\\}|;|use c;|/// ```\n|\"|'|r#|impl D|if \\(import.meta.vitest\\)|test\\('x'|\\(|\\)|`|def test_a\\(\\):|\n| |    |>>> 1|\"\"\"|ä|#!\\[|\\]|//|/\\*|=){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any two texts are compared, and what was put in place has the base's tests.
    #[test]
    fn any_text_is_read(base in PIECES, candidate in PIECES) {
        for path in ["a.rs", "a.ts", "a.py", "a.sh"] {
            let _ = test_items(path, &candidate);
            if let Items::Replaced(text) = with_base_tests(path, &base, &candidate)
                && path == "a.rs"
            {
                let again = with_base_tests(path, &base, &text);
                prop_assert_ne!(again, Items::Unsure(Vec::new()));
            }
        }
    }
}
