//! Which faults a line can have, how they are spread, and that any text can be changed.

use proptest::prelude::*;

use super::*;

/// All faults of a new file, in the order of the text.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut found: Vec<(String, String)> = mutants(path, None, text, 7, MUTANTS_MAX)
        .into_iter()
        .map(|mutant| (mutant.text, format!("{} => {}", mutant.was, mutant.becomes)))
        .collect();
    // Where two texts part, the earlier fault is the one that has parted from the original first.
    found.sort_by_key(|(changed, _)| {
        text.bytes()
            .zip(changed.bytes())
            .take_while(|(a, b)| a == b)
            .count()
    });
    found.into_iter().map(|(_, fault)| fault).collect()
}

fn check(path: &str, rows: &[(&str, &[&str])]) {
    for (text, expected) in rows {
        assert_eq!(faults(path, text), *expected, "{path}: {text}");
    }
}

#[test]
fn python_can_have_these_faults() {
    check(
        "a.py",
        &[
            ("    return a * 2", &["a * 2 => None", "* => +", "2 => 3"]),
            ("    return a + b", &["a + b => None", "+ => -"]),
            ("x = a - 1", &["- => +", "1 => 2"]),
            (
                "if a < b and c == 'd':",
                &["< => >=", "and => or", "== => !=", "'d' => 'mutant'"],
            ),
            ("x = True", &["True => False"]),
            ("x = f(*a, **b)", &[]),
            ("x = a // 2", &["2 => 3"]),
            ("x //= a", &[]),
            ("x = a[:-1]", &["1 => 2"]),
            ("total += n", &["+= => -="]),
            ("i += 1", &["1 => 2"]),
            ("x = 'a' + b", &["'a' => 'mutant'"]),
            ("x = f'{a}!'", &["f'{a}!' => \"mutant\""]),
            ("x = b'a'", &["b'a' => b\"mutant\""]),
            ("import os", &[]),
            ("from a import b", &[]),
            ("# a + b", &[]),
            ("\"\"\"Adds 1 + 2.\"\"\"", &[]),
            ("@decorate(1)", &[]),
            ("raise ValueError('bad')", &[]),
            ("log.info('a %s', 1)", &["1 => 2"]),
            ("if __name__ == '__main__':", &["== => !="]),
            ("return None", &[]),
            ("return foo(", &[]),
            ("x = ''", &[]),
            ("assert a == 1", &[]),
            ("while a == b:", &[]),
            ("x = 255", &["255 => 254"]),
            ("x = 1.5e3 + 0x10", &["1.5e3 => 2.5e3", "+ => -"]),
        ],
    );
}

#[test]
fn scripts_can_have_these_faults() {
    check(
        "a.ts",
        &[
            (
                "export const double = (a: number) => a * 2;",
                &["* => +", "2 => 3"],
            ),
            ("return a + b;", &["a + b => undefined", "+ => -"]),
            ("f(() => { return x })", &["x => undefined"]),
            (
                "if (a === b && c !== d) {",
                &["=== => !==", "&& => ||", "!== => ==="],
            ),
            (
                "const m: Map<string, number> = new Map<string, number>()",
                &[],
            ),
            (
                "if (a < b || c >= 1) x()",
                &["< => >=", "|| => &&", ">= => <", "1 => 2"],
            ),
            ("const re = /a+b*/g", &[]),
            ("import { a } from './a.js'", &[]),
            ("const a = require('a')", &[]),
            ("} from \"./x\"", &[]),
            ("const s = 'a' + b", &["'a' => 'mutant'"]),
            ("const s = `a ${b + 1}`", &["`a ${b + 1}` => `mutant`"]),
            ("const q = sql`select 1`", &[]),
            ("type A = 'x' | 'y'", &[]),
            (
                "const a = { true: 1, b: false }",
                &["1 => 2", "false => true"],
            ),
            ("'use strict'", &[]),
            ("throw new Error('bad')", &[]),
            ("i++", &[]),
            ("const x = -1", &["1 => 2"]),
            ("return (", &[]),
            ("return undefined;", &[]),
            ("const f = async () => {", &[]),
            ("// a + b", &[]),
            ("a /= 2", &["2 => 3"]),
            ("const p = a / b", &["/ => *"]),
        ],
    );
}

#[test]
fn rust_can_have_these_faults() {
    check(
        "a.rs",
        &[
            ("    a * 2", &["* => +", "2 => 3"]),
            ("    let x = *a + b;", &["+ => -"]),
            ("fn f<T: A + B>(x: &'a T) -> Option<u8> {", &[]),
            ("    where T: Into<String> + 'a,", &[]),
            (
                "    if a < b && c == d {",
                &["< => >=", "&& => ||", "== => !="],
            ),
            ("    if let Some(x) = y && x > 1 {", &["> => <=", "1 => 2"]),
            ("    let f = || true;", &["true => false"]),
            ("    let t = x.0;", &[]),
            ("    let a = [0; 4];", &["0 => 1"]),
            ("    let a: u8 = 255;", &["255 => 254"]),
            ("    let a = 1_000u64;", &["1_000u64 => 1001u64"]),
            ("    println!(\"{} a\", b);", &[]),
            ("    \"add\" => 1,", &["\"add\" => \"mutant\"", "1 => 2"]),
            ("    x.expect(\"must be\")", &[]),
            ("#[serde(rename = \"a\")]", &[]),
            ("use a::b;", &[]),
            ("#[a(\n    b = \"c\",\n)]\nfn f() -> u8 { 1 }", &["1 => 2"]),
            ("pub use a::{b, c};", &[]),
            ("const A: char = 'a';", &[]),
            ("    s += &t;", &[]),
            ("    n += 2;", &["+= => -=", "2 => 3"]),
            ("    let x = include_str!(\"a.txt\");", &[]),
            ("    let x: Vec<Vec<u8>> = y;", &[]),
            ("/// a + b", &[]),
            ("    return a - b;", &["- => +"]),
        ],
    );
    let tested = "fn f() -> i32 { 1 }\n#[cfg(test)]\nmod tests {\n    fn g() -> i32 { 2 }\n}\n";
    check("a.rs", &[(tested, &["1 => 2"])]);
}

#[test]
fn shells_and_others_can_have_these_faults() {
    check(
        "a.sh",
        &[
            (
                "  double) echo $(($2 * 2)) ;;",
                &["$(($2 * 2)) => mutant", "* => +", "2 => 3"],
            ),
            ("if [ \"$a\" -eq 1 ]; then", &["-eq => -ne"]),
            (
                "[ \"$a\" = b ] && echo yes",
                &["= => !=", "&& => ||", "yes => mutant"],
            ),
            (
                "[ $a -lt 3 ] || exit 2",
                &["-lt => -ge", "|| => &&", "2 => 3"],
            ),
            ("x=\"$((a + b))\"", &["+ => -"]),
            ("echo 'a' | tr a b", &["'a' => mutant"]),
            ("echo -n a", &[]),
            ("# echo a", &[]),
            ("cat <<E\necho a\nE", &[]),
            ("echo", &[]),
            ("grep 'echo a' x", &[]),
            ("while true; do", &[]),
            ("return 0", &["0 => 1"]),
            ("x=$((${#a} - 1))", &["- => +", "1 => 2"]),
        ],
    );
    check(
        "a.go",
        &[
            ("\treturn a + b", &["+ => -"]),
            ("\tif a == 1 && b {", &["== => !=", "1 => 2", "&& => ||"]),
            ("import \"fmt\"", &[]),
            ("\t\"fmt\"", &[]),
            ("\tvar p *int", &[]),
        ],
    );
    check(
        "a.rb",
        &[("x = a and b", &["and => or"]), ("require 'a'", &[])],
    );
    check("a.txt", &[("a + b", &[])]);
}

#[test]
fn faults_are_in_new_lines_and_spread() {
    let base = "a = 1\nb = 2\n";
    let candidate = "a = 1\nb = 3\nc = 4 + 5\nd = 6 + 7\n";
    let all = mutants("a.py", Some(base), candidate, 1, 50);
    let mut lines: Vec<usize> = all.iter().map(|mutant| mutant.line_number).collect();
    assert_eq!(all.len(), 7);
    lines.truncate(3);
    lines.sort_unstable();
    assert_eq!(lines, [2, 3, 4], "every line has one before any has two");
    for (mutant, again) in all
        .iter()
        .zip(mutants("a.py", Some(base), candidate, 1, 50))
    {
        assert_eq!(*mutant, again, "the same seed gives the same faults");
    }
    assert_eq!(mutants("a.py", Some(base), candidate, 1, 2), all[..2]);
    let orders: std::collections::BTreeSet<Vec<usize>> = (0..20)
        .map(|seed| {
            let found = mutants("a.py", Some(base), candidate, seed, 3);
            found.iter().map(|mutant| mutant.line_number).collect()
        })
        .collect();
    assert!(orders.len() > 2, "{} orders", orders.len());
    let one = &mutants("a.py", Some("x"), "b = 3\n", 1, 1)[0];
    assert_eq!(one.text, "b = 4\n");
}

#[test]
fn large_files_are_changed_in_time() {
    for (path, piece) in [
        ("a.py", "a + 1\n"),
        ("a.py", "a + 1 "),
        ("a.js", "return ("),
        ("a.rs", "a < b && "),
        ("a.sh", "echo $((1 + 2)) ; "),
        ("a.sh", "[ a = b ]\n"),
    ] {
        let text = piece.repeat(300_000 / piece.len());
        let _ = mutants(path, None, &text, 1, 10);
    }
}

const PIECES: &str = "(a|1|\\+|-|\\*|<|>|==|&&|\"|'|`|\\$\\(\\(|\\)\\)|\\(|\\)|\\{|\\}|\n| |echo|exit|return|true|if|x = |#|//|ä|\\\\|=|\\[|\\]|:|,|9223372036854775807|18446744073709551615){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A mutant differs from the candidate at one place, on a line that is new.
    #[test]
    fn any_text_can_be_changed(base in PIECES, candidate in PIECES, seed in any::<u64>()) {
        for path in ["a.py", "a.ts", "a.rs", "a.sh", "a.go", "a.rb"] {
            for mutant in mutants(path, Some(&base), &candidate, seed, 10) {
                prop_assert_ne!(&mutant.text, &candidate);
                prop_assert_ne!(&mutant.was, &mutant.becomes);
                let grown = mutant.text.len() + mutant.was.len();
                prop_assert_eq!(grown, candidate.len() + mutant.becomes.len());
                let line = candidate.lines().nth(mutant.line_number - 1).unwrap_or("");
                prop_assert!(line.contains(mutant.was.lines().next().unwrap_or("")));
            }
        }
    }
}
