//! JavaScript and TypeScript: two calls of `test` or `it` with the assertion that the file uses most.

use super::draw::Draw;
use super::model::{Canary, most_used};
use crate::lex::{Kind, Language, Token, code, pairs};

/// How an assertion is written, with letters that [`Draw::filled`] knows.
#[derive(Clone, Copy)]
struct Way {
    /// Pieces that show that a file writes it so.
    sign: &'static [&'static str],
    passes: &'static str,
    fails: &'static str,
    /// Whether it is a method of what the test is given.
    is_given: bool,
}

const fn way(sign: &'static [&'static str], passes: &'static str, fails: &'static str) -> Way {
    Way {
        sign,
        passes,
        fails,
        is_given: false,
    }
}

const fn given(sign: &'static [&'static str], passes: &'static str, fails: &'static str) -> Way {
    Way {
        sign,
        passes,
        fails,
        is_given: true,
    }
}

/// Ways to write an assertion. Those with a longer sign come first, since a shorter one may be part
/// of it.
const WAYS: [Way; 28] = [
    way(
        &[".", "to", ".", "deep", ".", "equal", "("],
        "expect([A]).to.deep.equal([S]);",
        "expect([A]).to.deep.equal([O]);",
    ),
    way(
        &[".", "to", ".", "be", ".", "true"],
        "expect(A === S).to.be.true;",
        "expect(A === O).to.be.true;",
    ),
    way(
        &[".", "to", ".", "equal", "("],
        "expect(A).to.equal(S);",
        "expect(A).to.equal(O);",
    ),
    way(
        &[".", "to", ".", "eql", "("],
        "expect(A).to.eql(S);",
        "expect(A).to.eql(O);",
    ),
    way(
        &[".", "toBe", "("],
        "expect(A).toBe(S);",
        "expect(A).toBe(O);",
    ),
    way(
        &[".", "toEqual", "("],
        "expect([A]).toEqual([S]);",
        "expect([A]).toEqual([O]);",
    ),
    way(
        &[".", "toStrictEqual", "("],
        "expect([A]).toStrictEqual([S]);",
        "expect([A]).toStrictEqual([O]);",
    ),
    way(
        &[".", "toBeTruthy", "("],
        "expect(A === S).toBeTruthy();",
        "expect(A === O).toBeTruthy();",
    ),
    way(
        &[".", "toContain", "("],
        "expect([A]).toContain(S);",
        "expect([A]).toContain(O);",
    ),
    way(
        &[".", "toHaveLength", "("],
        "expect([A]).toHaveLength(1);",
        "expect([A]).toHaveLength(2);",
    ),
    way(
        &[".", "toMatchObject", "("],
        "expect({ a: A }).toMatchObject({ a: S });",
        "expect({ a: A }).toMatchObject({ a: O });",
    ),
    way(
        &[".", "should", ".", "equal", "("],
        "(A).should.equal(S);",
        "(A).should.equal(O);",
    ),
    given(
        &["t", ".", "assert", ".", "strictEqual", "("],
        "t.assert.strictEqual(A, S);",
        "t.assert.strictEqual(A, O);",
    ),
    given(
        &["t", ".", "assert", ".", "equal", "("],
        "t.assert.equal(A, S);",
        "t.assert.equal(A, O);",
    ),
    given(&["t", ".", "is", "("], "t.is(A, S);", "t.is(A, O);"),
    given(
        &["t", ".", "equal", "("],
        "t.equal(A, S);",
        "t.equal(A, O);",
    ),
    given(
        &["t", ".", "deepEqual", "("],
        "t.deepEqual([A], [S]);",
        "t.deepEqual([A], [O]);",
    ),
    given(
        &["t", ".", "same", "("],
        "t.same([A], [S]);",
        "t.same([A], [O]);",
    ),
    given(&["t", ".", "ok", "("], "t.ok(A === S);", "t.ok(A === O);"),
    given(
        &["t", ".", "true", "("],
        "t.true(A === S);",
        "t.true(A === O);",
    ),
    way(
        &["assert", ".", "equal", "("],
        "assert.equal(A, S);",
        "assert.equal(A, O);",
    ),
    way(
        &["assert", ".", "strictEqual", "("],
        "assert.strictEqual(A, S);",
        "assert.strictEqual(A, O);",
    ),
    way(
        &["assert", ".", "deepEqual", "("],
        "assert.deepEqual([A], [S]);",
        "assert.deepEqual([A], [O]);",
    ),
    way(
        &["assert", ".", "deepStrictEqual", "("],
        "assert.deepStrictEqual([A], [S]);",
        "assert.deepStrictEqual([A], [O]);",
    ),
    way(
        &["assert", ".", "ok", "("],
        "assert.ok(A === S);",
        "assert.ok(A === O);",
    ),
    way(
        &["assert", ".", "notEqual", "("],
        "assert.notEqual(A, O);",
        "assert.notEqual(A, S);",
    ),
    way(
        &["assert", ".", "notStrictEqual", "("],
        "assert.notStrictEqual(A, O);",
        "assert.notStrictEqual(A, S);",
    ),
    way(&["assert", "("], "assert(A === S);", "assert(A === O);"),
];
/// Functions that a file may have taken out of its assertion library.
const BARE: [(&str, Way); 4] = [
    (
        "strictEqual",
        way(
            &["strictEqual", "("],
            "strictEqual(A, S);",
            "strictEqual(A, O);",
        ),
    ),
    (
        "equal",
        way(&["equal", "("], "equal(A, S);", "equal(A, O);"),
    ),
    (
        "deepStrictEqual",
        way(
            &["deepStrictEqual", "("],
            "deepStrictEqual([A], [S]);",
            "deepStrictEqual([A], [O]);",
        ),
    ),
    (
        "deepEqual",
        way(
            &["deepEqual", "("],
            "deepEqual([A], [S]);",
            "deepEqual([A], [O]);",
        ),
    ),
];
/// Where a file asserts in no known way.
const THROWN: Way = way(
    &[],
    "if (A !== S) throw new Error('not the same');",
    "if (A !== O) throw new Error('not the same');",
);

pub(super) fn canary(text: &str, draw: &Draw) -> Option<Canary> {
    let tokens = code(text, Language::Script);
    pairs(&tokens)?;
    let is_in_source = text.contains("import.meta.vitest");
    let is_narrowed = count(&tokens, &[".", "only", "("]) > 0;
    if is_in_source || is_narrowed {
        return None;
    }
    let define = most_used(["test", "it", "specify"].map(|word| (word, calls(&tokens, word))))?;
    let way = chosen(&tokens);
    let ends = count(&tokens, &["t", ".", "end", "("]) > 0 && way.is_given;
    let (red, green) = (Draw::title(&draw.red), Draw::title(&draw.green));
    let call = |title: &str, assertion: &str| {
        let given = if way.is_given { "t" } else { "" };
        let end = if ends { "\n  t.end();" } else { "" };
        format!(
            "\n{define}('{title}', ({given}) => {{\n  const made = [2, 3, 4].map((step) => {} * step);\n  {}{end}\n}});\n",
            draw.factor,
            draw.filled(assertion)
        )
    };
    let addition = [call(&green, way.passes), call(&red, way.fails)].concat();
    Some(Canary {
        text: format!("{text}\n{addition}"),
        red,
        green,
    })
}

/// The way in which a file asserts most often.
fn chosen(tokens: &[Token<'_>]) -> Way {
    let library = tokens
        .iter()
        .any(|token| token.kind == Kind::Text && token.content().contains("assert"));
    let bare = BARE
        .iter()
        .filter(|_| library)
        .map(|(name, way)| (*way, bare_calls(tokens, name)));
    let ways = WAYS.iter().map(|way| (*way, count(tokens, way.sign)));
    most_used(ways.chain(bare)).unwrap_or(THROWN)
}

/// How often pieces stand in a row.
fn count(tokens: &[Token<'_>], row: &[&str]) -> usize {
    let is_row = |window: &&[Token<'_>]| {
        let is_same = window
            .iter()
            .zip(row)
            .all(|(token, text)| token.text == *text);
        is_same && window[0].kind != Kind::Text
    };
    tokens.windows(row.len().max(1)).filter(is_row).count()
}

/// How often a function is called with a title.
fn calls(tokens: &[Token<'_>], word: &str) -> usize {
    (0..tokens.len())
        .filter(|at| {
            let is_member = *at > 0 && tokens[at - 1].is_mark(".");
            let is_next = |ahead: usize, kind: Kind| {
                tokens
                    .get(at + ahead)
                    .is_some_and(|token| token.kind == kind)
            };
            tokens[*at].is_word(word)
                && !is_member
                && tokens.get(at + 1).is_some_and(|token| token.is_mark("("))
                && is_next(2, Kind::Text)
        })
        .count()
}

/// How often a function is called by its bare name.
fn bare_calls(tokens: &[Token<'_>], name: &str) -> usize {
    (0..tokens.len())
        .filter(|at| {
            let is_member = *at > 0 && tokens[at - 1].is_mark(".");
            tokens[*at].is_word(name)
                && !is_member
                && tokens.get(at + 1).is_some_and(|token| token.is_mark("("))
        })
        .count()
}
