//! What attributes say of an item: whether it is compiled for tests, and whether it is one.

use std::ops::Range;

use super::file::File;
use crate::lex::Kind;

/// Attributes that make a function a test, by their last word.
const TEST_ATTRIBUTES: [&str; 9] = [
    "test",
    "rstest",
    "test_case",
    "test_log",
    "proptest",
    "quickcheck",
    "wasm_bindgen_test",
    "gtest",
    "bench",
];

/// When an item is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Always,
    /// For tests alone.
    Test,
    /// For everything but tests.
    NotTest,
}

impl File<'_> {
    /// What the inner attributes at the start of a range say.
    pub(super) fn inner_gate(&self, range: Range<usize>) -> Gate {
        let mut at = range.start;
        while at < range.end {
            let token = &self.tokens[at];
            if token.kind == Kind::Comment {
                at += 1;
                continue;
            }
            let is_inner = token.is_mark("#") && self.is_mark(at + 1, "!");
            if !is_inner || !self.is_mark(at + 2, "[") {
                break;
            }
            let end = self.partners[at + 2];
            if self.gate_of(at + 3..end) == Gate::Test {
                return Gate::Test;
            }
            at = end + 1;
        }
        Gate::Always
    }

    /// What one attribute says about when its item is compiled.
    pub(super) fn gate_of(&self, attribute: Range<usize>) -> Gate {
        if !self.is_word(attribute.start, "cfg") {
            return Gate::Always;
        }
        let mut gate = Gate::Always;
        // For each open parenthesis, whether what stands in it is turned around.
        let mut turned: Vec<bool> = Vec::new();
        for at in attribute {
            let token = &self.tokens[at];
            if token.is_mark("(") {
                let is_not = at > 0 && self.is_word(at - 1, "not");
                turned.push(is_not != turned.last().copied().unwrap_or(false));
            } else if token.is_mark(")") {
                turned.pop();
            } else if token.is_word("test") && !self.is_mark(at + 1, "=") {
                if turned.last().copied().unwrap_or(false) {
                    gate = Gate::NotTest;
                } else {
                    return Gate::Test;
                }
            }
        }
        gate
    }

    pub(super) fn makes_test(&self, attribute: Range<usize>) -> bool {
        let tokens = &self.tokens[attribute.clone()];
        let path = tokens
            .iter()
            .take_while(|token| token.kind == Kind::Word || token.is_mark("::"));
        let last = path.last().map_or("", |token| token.text);
        let is_conditional = last == "cfg_attr"
            && (attribute.start + 2..attribute.end).any(|at| {
                self.is_word(at, "test") && self.is_mark(at - 1, ",") && !self.is_mark(at + 1, "=")
            });
        TEST_ATTRIBUTES.contains(&last) || is_conditional
    }
}
