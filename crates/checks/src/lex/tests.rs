//! Tables of pieces, and that any text can be cut.

use proptest::prelude::*;

use super::*;

fn shown(text: &str, language: Language) -> Vec<String> {
    let sign = |kind| match kind {
        Kind::Word => 'w',
        Kind::Number => 'n',
        Kind::Text => 't',
        Kind::Comment => 'c',
        Kind::Mark => 'm',
    };
    lex(text, language)
        .iter()
        .map(|token| format!("{}:{}", sign(token.kind), token.text))
        .collect()
}

#[test]
fn rust_is_cut_into() {
    for (text, expected) in [
        (
            "fn a<'b>()",
            &["w:fn", "w:a", "m:<", "w:'b", "m:>", "m:(", "m:)"][..],
        ),
        ("'{' '\\'' '\\u{7d}'", &["t:'{'", "t:'\\''", "t:'\\u{7d}'"]),
        ("r#\"}\"{\"#", &["t:r#\"}\"{\"#"]),
        ("br##\"a\"#\"##;", &["t:br##\"a\"#\"##", "m:;"]),
        (
            "b\"}\" b'}' c\"x\" r\"\\\"",
            &["t:b\"}\"", "t:b'}'", "t:c\"x\"", "t:r\"\\\""],
        ),
        ("r#fn br", &["w:r#fn", "w:br"]),
        ("/* /* } */ { */ x", &["c:/* /* } */ { */", "w:x"]),
        ("a // {\nb", &["w:a", "c:// {", "w:b"]),
        (
            "0..=1.5e-3 1.max(2)",
            &[
                "n:0", "m:..=", "n:1.5e-3", "n:1", "m:.", "w:max", "m:(", "n:2", "m:)",
            ],
        ),
        ("'a: loop {}", &["w:'a", "m::", "w:loop", "m:{", "m:}"]),
        ("\"a\\\"{\nb\" c", &["t:\"a\\\"{\nb\"", "w:c"]),
        ("x as *const u8", &["w:x", "w:as", "m:*", "w:const", "w:u8"]),
    ] {
        assert_eq!(shown(text, Language::Rust), expected, "{text}");
    }
}

#[test]
fn scripts_are_cut_into() {
    for (text, expected) in [
        ("a / b / c", &["w:a", "m:/", "w:b", "m:/", "w:c"][..]),
        (
            "x = /[/{]/g.test(y)",
            &[
                "w:x",
                "m:=",
                "t:/[/{]/g",
                "m:.",
                "w:test",
                "m:(",
                "w:y",
                "m:)",
            ],
        ),
        (
            "if (a) /}/.exec(b)",
            &[
                "w:if", "m:(", "w:a", "m:)", "t:/}/", "m:.", "w:exec", "m:(", "w:b", "m:)",
            ],
        ),
        (
            "(a) / 2 / b",
            &["m:(", "w:a", "m:)", "m:/", "n:2", "m:/", "w:b"],
        ),
        ("`a ${b({c: `}`})} }`;", &["t:`a ${b({c: `}`})} }`", "m:;"]),
        ("'it\\'s' \"}\"", &["t:'it\\'s'", "t:\"}\""]),
        (
            "<p>don't {\nx}",
            &["m:<", "w:p", "m:>", "w:don", "t:'t {", "w:x", "m:}"],
        ),
        (
            "<a></a>",
            &["m:<", "w:a", "m:>", "m:<", "m:/", "w:a", "m:>"],
        ),
        ("return /a'b/ // c", &["w:return", "t:/a'b/", "c:// c"]),
        ("#!/usr/bin/env node\nx", &["c:#!/usr/bin/env node", "w:x"]),
        ("x /= 2", &["w:x", "m:/=", "n:2"]),
        ("`\\``+1", &["t:`\\``", "m:+", "n:1"]),
    ] {
        assert_eq!(shown(text, Language::Script), expected, "{text}");
    }
}

#[test]
fn other_languages_are_cut_into() {
    let python = Language::Python;
    let shell = Language::Shell;
    for (language, text, expected) in [
        (
            python,
            "x = '''a\n'b' ''' # c",
            &["w:x", "m:=", "t:'''a\n'b' '''", "c:# c"][..],
        ),
        (
            python,
            "f\"{a}\" rb'\\' open",
            &["t:f\"{a}\"", "t:rb'\\' open"],
        ),
        (
            python,
            "\"\"\"a\\\"\"\"b\"\"\"",
            &["t:\"\"\"a\\\"\"\"b\"\"\""],
        ),
        (python, "'open\nnext", &["t:'open", "w:next"]),
        (
            shell,
            "a \"$(b \"c)\")\" 'd",
            &["w:a", "t:\"$(b \"c)\")\"", "t:'d"],
        ),
        (shell, "echo $# # n", &["w:echo", "m:$", "m:#", "c:# n"]),
        (
            shell,
            "cat <<'E' x\n it's\nE\nb",
            &["w:cat", "m:<", "m:<", "t:'E'", "w:x", "t: it's\nE", "w:b"],
        ),
        (
            shell,
            "x=${a#b} \\\"",
            &[
                "w:x", "m:=", "m:$", "m:{", "w:a", "m:#", "w:b", "m:}", "t:\\\"",
            ],
        ),
        (
            Language::Braces,
            "`a\n'` '\"' x",
            &["t:`a\n'`", "t:'\"'", "w:x"],
        ),
        (
            Language::Ruby,
            "x = 'a' # b",
            &["w:x", "m:=", "t:'a'", "c:# b"],
        ),
    ] {
        assert_eq!(shown(text, language), expected, "{text}");
    }
}

#[test]
fn a_string_holds() {
    for (language, text, expected) in [
        (Language::Rust, "r#\"a\"b\"#", "a\"b"),
        (Language::Rust, "b\"a\"", "a"),
        (Language::Python, "f'''a'b'''", "a'b"),
        (Language::Python, "''", ""),
        (Language::Script, "`a`", "a"),
        (Language::Script, "'open", "open"),
    ] {
        assert_eq!(lex(text, language)[0].content(), expected, "{text}");
    }
}

fn language() -> impl Strategy<Value = Language> {
    prop_oneof![
        Just(Language::Rust),
        Just(Language::Script),
        Just(Language::Python),
        Just(Language::Shell),
        Just(Language::Ruby),
        Just(Language::Braces),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is lost: between the pieces stands white space alone.
    #[test]
    fn pieces_cover_any_text(
        text in "([ -~\n]|[rbf]?['\"`/\\\\*#${}()<]|ä|<<E\n|\"\"\"){0,60}", language in language(),
    ) {
        let mut at = 0;
        for token in lex(&text, language) {
            prop_assert!(text[at..token.at].trim().is_empty());
            prop_assert!(token.at >= at && !token.text.is_empty());
            prop_assert_eq!(&text[token.at..token.end()], token.text);
            let _ = token.content();
            at = token.end();
        }
        prop_assert!(text[at..].trim().is_empty());
    }
}
