//! Files of each runner with their two tests more. That runners see them as they should was tried
//! by hand; here is what is written.

use proptest::prelude::*;

use super::*;

/// What was put in, with the names and numbers of the seed taken out again.
fn added(path: &str, text: &str) -> Option<String> {
    let canary = canary(path, text, 7)?;
    let draw = Draw::new(text, 7)?;
    let kept = text
        .bytes()
        .zip(canary.text.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let tail = text.len() - kept;
    let addition = &canary.text[kept..canary.text.len() - tail];
    assert!(addition.contains(&canary.red), "{addition}");
    assert!(addition.contains(&canary.green), "{addition}");
    for word in ["canary", "red", "green", "loopwright", "mutant"] {
        assert!(
            !addition.to_lowercase().contains(word),
            "{word}: {addition}"
        );
    }
    let shown = addition
        .replace(&canary.red, "FAILS")
        .replace(&canary.green, "PASSES")
        .replace(&draw.other_sum().to_string(), "OTHER")
        .replace(&draw.sum().to_string(), "SUM")
        .replace(&format!("{} * step", draw.factor), "N * step")
        .replace(&draw.class, "NAME");
    Some(shown)
}

#[test]
fn python_files_get() {
    let functions = "\n\ndef PASSES():\n    made = [N * step for step in range(2, 5)]\n    assert made[0] + made[1] + made[2] == SUM\n\n\ndef FAILS():\n    made = [N * step for step in range(2, 5)]\n    assert made[0] + made[1] + made[2] == OTHER\n\n";
    let plain = "from calc import add\ndef test_add():\n    assert add(1, 2) == 3\n";
    assert_eq!(
        added("tests/test_add.py", plain).as_deref(),
        Some(functions)
    );
    let class = "class TestAdd:\n    def test_add(self):\n        assert 1\n";
    assert_eq!(
        added("tests/test_add.py", class).as_deref(),
        Some(functions)
    );
    let cases = "import unittest\nfrom calc import add\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\nif __name__ == '__main__':\n    unittest.main()\n";
    assert_eq!(
        added("test_add.py", cases).as_deref(),
        Some(
            "\n\nclass TestNAME(unittest.TestCase):\n    def PASSES(self):\n        made = [N * step for step in range(2, 5)]\n        self.assertEqual(made[0] + made[1] + made[2], SUM)\n\n    def FAILS(self):\n        made = [N * step for step in range(2, 5)]\n        self.assertEqual(made[0] + made[1] + made[2], OTHER)\n\n\n"
        )
    );
    let found = canary("test_add.py", cases, 7).expect("a canary");
    assert!(
        found
            .text
            .ends_with("if __name__ == '__main__':\n    unittest.main()\n")
    );
    let own = "from django.test import TestCase\nclass A(TestCase):\n    def test_a(self):\n        self.assertTrue(x)\n        self.assertTrue(y)\n        self.assertEqual(1, 1)\n";
    let shown = added("test_a.py", own).expect("a canary");
    assert!(shown.contains("(TestCase):\n"), "{shown}");
    assert!(
        shown.contains("self.assertTrue(made[0] + made[1] + made[2] == OTHER)"),
        "{shown}"
    );
}

/// Files, what defines a test, what a test is given, and the assertion that fails.
const SCRIPTS: [(&str, &str, &str, &str); 10] = [
    (
        "import test from 'node:test'; import assert from 'node:assert'; import { add } from '../calc.js';\ntest('adds', () => assert.equal(add(1, 2), 3));\n",
        "test",
        "",
        "assert.equal(A, OTHER);",
    ),
    (
        "import { test, expect } from 'vitest'; import { add } from '../calc.js';\ntest('adds', () => expect(add(1, 2)).toBe(3));\n",
        "test",
        "",
        "expect(A).toBe(OTHER);",
    ),
    (
        "const { add } = require('../calc.js');\ndescribe('calc', () => { it('adds', () => expect([add(1, 2)]).toEqual([3])) })",
        "it",
        "",
        "expect([A]).toEqual([OTHER]);",
    ),
    (
        "const { expect } = require('chai');\nit('adds', () => { expect(add(1, 2)).to.equal(3) });",
        "it",
        "",
        "expect(A).to.equal(OTHER);",
    ),
    (
        "import { it } from 'node:test'; import assert from 'node:assert/strict';\nit('a', () => { assert.deepStrictEqual(a, b); assert.deepStrictEqual(c, d); assert.equal(e, f) })",
        "it",
        "",
        "assert.deepStrictEqual([A], [OTHER]);",
    ),
    (
        "const { strictEqual } = require('node:assert');\ntest('a', () => strictEqual(1, 1))",
        "test",
        "",
        "strictEqual(A, OTHER);",
    ),
    (
        "import test from 'ava';\ntest('a', t => { t.is(1, 1) })",
        "test",
        "t",
        "t.is(A, OTHER);",
    ),
    (
        "import test from 'node:test';\ntest('a', t => { t.assert.strictEqual(1, 1) })",
        "test",
        "t",
        "t.assert.strictEqual(A, OTHER);",
    ),
    (
        "const test = require('tape');\ntest('a', t => { t.equal(1, 1); t.end() })",
        "test",
        "t",
        "t.equal(A, OTHER);\n  t.end();",
    ),
    (
        "test('a', () => { if (x) throw new Error('y') })",
        "test",
        "",
        "if (A !== OTHER) throw new Error('not the same');",
    ),
];

#[test]
fn scripts_get() {
    for (text, define, given, assertion) in SCRIPTS {
        let shown = added("tests/a.test.ts", text).expect(text);
        let wanted = assertion.replace('A', "made[0] + made[1] + made[2]");
        let one = |title: &str, assertion: &str| {
            format!(
                "\n{define}('{title}', ({given}) => {{\n  const made = [2, 3, 4].map((step) => N * step);\n  {assertion}\n}});\n"
            )
        };
        let passes = wanted.replace("OTHER", "SUM");
        let expected = format!("\n{}{}", one("PASSES", &passes), one("FAILS", &wanted));
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn rust_files_get() {
    let one = |name: &str, assertion: &str| {
        format!(
            "\n#[test]\nfn {name}() {{\n    let made: Vec<u64> = (2..5).map(|step| N * step).collect();\n    {assertion}\n}}\n"
        )
    };
    let both = |passes: &str, fails: &str| one("PASSES", passes) + &one("FAILS", fails);
    let sum = "made[0] + made[1] + made[2]";
    let equal = both(
        &format!("assert_eq!({sum}, SUM);"),
        &format!("assert_eq!({sum}, OTHER);"),
    );
    let api = "#[test]\nfn zero() { assert_eq!(calc::add(0, 0), 0); }\n";
    assert_eq!(added("tests/api.rs", api), Some(equal.clone()));
    let truth = "#[test]\nfn zero() { assert!(a); assert!(b); assert_eq!(1, 1); }\n";
    let holds = both(
        &format!("assert!({sum} == SUM);"),
        &format!("assert!({sum} == OTHER);"),
    );
    assert_eq!(added("tests/api.rs", truth), Some(holds));
    let unit = "pub fn a() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn b() { assert_eq!(1, 1); }\n}\n";
    assert_eq!(added("src/lib.rs", unit), Some(equal));
    let found = canary("src/lib.rs", unit, 1).expect("a canary");
    assert!(found.text.ends_with("}\n}\n"), "{}", found.text);
}

#[test]
fn no_canary_where_there_are_no_names() {
    for (path, text) in [
        ("tests/add.sh", "[ \"$(sh calc.sh add 1 2)\" = 3 ]\n"),
        ("tests/add.test.js", "// none\n"),
        (
            "tests/add.test.js",
            "test.only('a', () => {})\ntest('b', () => {})",
        ),
        ("tests/add.test.js", "test('a', () => {"),
        (
            "src/add.ts",
            "if (import.meta.vitest) { const { it } = import.meta.vitest; it('a', () => {}) }",
        ),
        (
            "tests/conftest.py",
            "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
        ),
        ("tests/api.rs", "fn main() {}\n"),
        ("tests/common/mod.rs", "pub fn helper() {}\n"),
        ("README.md", "test('a', () => {})"),
    ] {
        assert_eq!(canary(path, text, 1), None, "{path}: {text}");
    }
}

#[test]
fn names_follow_from_the_seed() {
    let text = "def test_add():\n    assert 1\n";
    let at = |seed| canary("test_a.py", text, seed).expect("a canary");
    assert_eq!(at(1), at(1));
    let names: std::collections::BTreeSet<String> = (0..200)
        .flat_map(|seed| [at(seed).red, at(seed).green])
        .collect();
    assert_eq!(names.len(), 400);
    // Every test must fail and pass by its numbers.
    for seed in 0..200 {
        let draw = Draw::new(text, seed).expect("a draw");
        assert_ne!(draw.sum(), draw.other_sum());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text is taken, and what is there stays there.
    #[test]
    fn any_text_is_taken(
        text in "(def test_a\\(\\):|class A\\(TestCase\\):|\n|    |test\\('a'|it\\(|\\)|\\{|\\}|\"|'|`|#\\[test\\]|fn b\\(\\)|mod c|assert|\\.|ä|if __name__|;|=){0,40}",
        seed in any::<u64>(),
    ) {
        for path in ["test_a.py", "a.test.ts", "tests/a.rs", "a.sh"] {
            if let Some(canary) = canary(path, &text, seed) {
                prop_assert!(canary.text.len() > text.len());
                prop_assert!(!text.contains(&canary.red));
                prop_assert!(canary.text.contains(&canary.red) && canary.text.contains(&canary.green));
            }
        }
    }
}
