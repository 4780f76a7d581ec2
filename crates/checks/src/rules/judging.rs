//! Which modules judge for tests that assert nothing themselves.
//!
//! `same(double(4), 8)` is a test only because `same` raises. Whoever may weaken `same` may turn such a
//! test green, wherever its file lies and whatever it is called.

use std::collections::{BTreeMap, BTreeSet};

use crate::lex::{Kind, Language, Token, code, pairs};

/// Words of a test that asserts something itself. Some go on, as `assertEqual` does.
const ASSERTS: [&str; 6] = ["assert", "expect", "raises", "should", "fail", "throws"];

/// The modules, without folders and ends, to which a test hands what other modules gave it and whose
/// answer it drops.
pub(super) fn judging_modules(path: &str, text: &str) -> BTreeSet<String> {
    let language = Language::of(path, text);
    let Some(language @ (Language::Python | Language::Script)) = language else {
        return BTreeSet::new();
    };
    let tokens = code(text, language);
    let is_assertion = |token: &Token<'_>| {
        token.kind == Kind::Word && ASSERTS.iter().any(|word| token.text.starts_with(word))
    };
    let Some(partners) = pairs(&tokens).filter(|_| !tokens.iter().any(is_assertion)) else {
        return BTreeSet::new();
    };
    let names = imported_names(text);
    let calls = (0..tokens.len()).filter_map(|at| {
        let name = names.get(tokens[at].text)?;
        let open = after_name(&tokens, at);
        let is_call = tokens.get(open)?.is_mark("(") && begins_statement(&tokens, at, text);
        let given = tokens.get(open..partners[open]).filter(|_| is_call)?;
        // What has members may be a module of a package.
        let own = (open > at + 1).then(|| name.own.clone());
        let modules = [Some(name.module.clone()), own];
        calls_another(given, name, &names).then_some(modules)
    });
    calls.flatten().flatten().collect()
}

/// Where a name that is imported comes from.
struct Imported {
    module: String,
    /// What it is called there.
    own: String,
}

/// Where a name ends that may have a member: `same`, `compare.same`.
fn after_name(tokens: &[Token<'_>], at: usize) -> usize {
    let is_member = tokens.get(at + 1).is_some_and(|token| token.is_mark("."));
    if is_member { at + 3 } else { at + 1 }
}

/// Whether nobody takes the answer of the call that begins here.
fn begins_statement(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else {
        return true;
    };
    let is_start = [";", "{", "}", "=>", ":"]
        .iter()
        .any(|mark| before.is_mark(mark));
    let is_end = before.kind != Kind::Mark || before.is_mark(")") || before.is_mark("]");
    let is_on_new_line = text[before.end()..tokens[at].at].contains('\n');
    is_start || before.is_word("await") || (is_end && is_on_new_line)
}

/// Whether what a call is given comes from a call of another module.
fn calls_another(
    given: &[Token<'_>],
    judge: &Imported,
    names: &BTreeMap<String, Imported>,
) -> bool {
    (0..given.len()).any(|at| {
        let other = names.get(given[at].text);
        let is_call = given
            .get(after_name(given, at))
            .is_some_and(|token| token.is_mark("("));
        is_call && other.is_some_and(|other| other.module != judge.module)
    })
}

/// Imported names, each with where it comes from.
fn imported_names(text: &str) -> BTreeMap<String, Imported> {
    let mut names = BTreeMap::new();
    let parts = text.lines().flat_map(|line| line.split(';'));
    for (module, list) in parts.filter_map(|part| imported(part.trim())) {
        for item in list.split(',') {
            let there = item.split(" as ").next().unwrap_or(item);
            let (Some(name), own) = (words(item).last(), words(there).last()) else {
                continue;
            };
            let own = own.unwrap_or(name).to_owned();
            let module = module.map_or_else(|| own.clone(), |module| stem(module).to_owned());
            names.insert(name.to_owned(), Imported { module, own });
        }
    }
    names
}

/// The module and the names of one import; no module where the names are modules.
fn imported(part: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = part.strip_prefix("from ") {
        let (module, list) = rest.split_once(" import ")?;
        return Some((Some(module.trim()), list));
    }
    if let Some(rest) = part.strip_prefix("import ") {
        return match rest.split_once(" from ") {
            Some((list, module)) => Some((Some(own_module(module)?), list)),
            None => Some((None, rest)),
        };
    }
    let (list, module) = part.split_once("require(")?;
    let list = list.trim_end().strip_suffix('=')?;
    Some((Some(own_module(module)?), list))
}

/// The module in quotes, if it is the project's own and no package.
fn own_module(text: &str) -> Option<&str> {
    let module = text.split(['\'', '"']).nth(1)?;
    module.starts_with(['.', '#', '@', '~']).then_some(module)
}

/// A module's name without folders and its end.
fn stem(module: &str) -> &str {
    let ends = [".js", ".mjs", ".cjs", ".ts"];
    let bare = ends.iter().find_map(|end| module.strip_suffix(end));
    let bare = bare.unwrap_or(module);
    bare.rsplit(['.', '/']).next().unwrap_or(bare)
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = text.split(move |letter| !is_of_name(letter));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i08_a_test_that_asserts_nothing_is_judged_by_what_it_calls() {
        for (path, text, expected) in [
            (
                "test_a.py",
                "from calc import add\nfrom compare import same\ndef test_add():\n    same(add(1, 2), 3)\n",
                "compare",
            ),
            (
                "test_a.py",
                "import calc\nfrom tools import compare as c\ndef test_add():\n    c.same(calc.add(1, 2), 3)\n",
                "compare tools",
            ),
            (
                "test_a.py",
                "import calc, compare\ndef test_add():\n    got = 1\n    compare.same(calc.add(1, 2), 3)\n",
                "compare",
            ),
            (
                "a.test.js",
                "import test from 'node:test'; import { add } from '../calc.js';\nimport { same } from '../lib/compare.js';\ntest('adds', () => same(add(1, 2), 3));\n",
                "compare",
            ),
            (
                "a.test.js",
                "const { add } = require('../calc');\nconst same = require('../compare');\nsame(add(1, 2), 3);\n",
                "compare",
            ),
            // It asserts itself, it takes the answer, or nothing of another module is handed over.
            (
                "test_a.py",
                "from calc import add\nfrom text import show\ndef test_add():\n    show(add(1, 2))\n    assert add(1, 2) == 3\n",
                "",
            ),
            (
                "test_a.py",
                "from calc import add\nfrom text import show\ndef test_add():\n    said = show(add(1, 2))\n    if said != '3': raise ValueError\n",
                "",
            ),
            (
                "test_a.py",
                "from app import main\ndef test_runs():\n    main(3)\n",
                "",
            ),
            (
                "test_a.py",
                "from calc import add, show\ndef test_runs():\n    show(add(1, 2))\n",
                "",
            ),
            (
                "test_a.py",
                "from calc import add\nfrom text import show\ndef test_add():\n    if show(add(1, 2)) != '3':\n        raise ValueError\n",
                "",
            ),
            ("a.rs", "use calc::add;\nsame(add(1, 2), 3);\n", ""),
        ] {
            let found: Vec<String> = judging_modules(path, text).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
