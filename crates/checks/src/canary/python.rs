//! Python: functions with `assert`, or a class with the assertions of `unittest`.

use super::draw::Draw;
use super::model::{Canary, inserted, most_used};
use crate::items::test_items;

/// Assertions of `unittest`, with what fails and what passes.
const ASSERTIONS: [(&str, &str, &str); 10] = [
    ("assertEqual", "A, O", "A, S"),
    ("assertTrue", "A == O", "A == S"),
    ("assertFalse", "A == S", "A == O"),
    ("assertIn", "O, M", "M[1], M"),
    ("assertNotIn", "M[1], M", "O, M"),
    ("assertIsNone", "M[1]", "dict(a=M).get('b')"),
    ("assertNotEqual", "A, S", "A, O"),
    ("assertGreater", "M[0], M[2]", "M[2], M[0]"),
    ("assertListEqual", "M, [S, O]", "M, list(M)"),
    ("assertIs", "M, list(M)", "M, M"),
];

pub(super) fn canary(text: &str, draw: &Draw) -> Option<Canary> {
    let tests = test_items("test.py", text);
    if tests.is_empty() {
        return None;
    }
    let n_methods = tests.iter().filter(|(name, _)| name.contains("::")).count();
    let base = test_case(text).filter(|_| 2 * n_methods >= tests.len());
    let addition = base.map_or_else(|| functions(draw), |base| class(text, base, draw));
    Some(Canary {
        text: inserted(text, place(text), &addition),
        red: format!("test_{}", draw.red),
        green: format!("test_{}", draw.green),
    })
}

/// Before what runs the file as a program, or at the end.
fn place(text: &str) -> usize {
    let main = text.rfind("\nif __name__").map(|at| at + 1);
    let has_tests_after = main.is_some_and(|at| !test_items("test.py", &text[at..]).is_empty());
    main.filter(|_| !has_tests_after).unwrap_or(text.len())
}

/// What the classes of a file are made from, where that is a `TestCase`.
fn test_case(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let (_, bases) = line.strip_prefix("class ")?.split_once('(')?;
        let base = bases.split(['(', ')', ',']).next()?.trim();
        let is_plain = base
            .chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c));
        (is_plain && base.ends_with("TestCase")).then_some(base)
    })
}

fn functions(draw: &Draw) -> String {
    let function = |name: &str, assertion: &str| {
        format!(
            "\n\ndef test_{name}():\n    made = [{} * step for step in range(2, 5)]\n    {}\n",
            draw.factor,
            draw.filled(assertion)
        )
    };
    format!(
        "{}{}\n",
        function(&draw.green, "assert A == S"),
        function(&draw.red, "assert A == O")
    )
}

fn class(text: &str, base: &str, draw: &Draw) -> String {
    let counts = ASSERTIONS.map(|way| (way, text.matches(&format!("self.{}(", way.0)).count()));
    let (name, fails, passes) = most_used(counts).unwrap_or(ASSERTIONS[0]);
    let method = |test: &str, arguments: &str| {
        format!(
            "\n    def test_{test}(self):\n        made = [{} * step for step in range(2, 5)]\n        self.{name}({})\n",
            draw.factor,
            draw.filled(arguments)
        )
    };
    format!(
        "\n\nclass Test{}({base}):{}{}\n\n",
        draw.class,
        method(&draw.green, passes),
        method(&draw.red, fails)
    )
}
