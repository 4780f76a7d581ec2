//! Cuts tests out of a file by their names, so that somebody who must not see them does not.

use crate::text::{extension, indent};

/// A test file without the tests of these names; `None` where that cannot be done for sure.
pub fn without_tests(path: &str, text: &str, names: &[&str]) -> Option<String> {
    let mut text = text.to_owned();
    for name in names {
        text = match extension(path) {
            "py" => without_python(&text, name)?,
            "rs" => without_block(&text, &format!("fn {name}("), true)?,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
                let quoted = ["'", "\"", "`"].map(|quote| format!("({quote}{name}{quote}"));
                let mark = quoted.iter().find(|mark| text.contains(mark.as_str()))?;
                without_block(&text, mark, false)?
            }
            _ => return None,
        };
    }
    let is_left = |name: &&str| {
        let marks = [format!("def {name}("), format!("fn {name}(")];
        let quoted = ["'", "\"", "`"].map(|quote| format!("({quote}{name}{quote}"));
        marks
            .iter()
            .chain(&quoted)
            .any(|mark| text.contains(mark.as_str()))
    };
    (!names.iter().any(is_left)).then_some(text)
}

fn without_python(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_head = |line: &&str| {
        let line = line.trim_start().trim_start_matches("async ");
        line.strip_prefix("def ").is_some_and(|rest| {
            rest.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('('))
        })
    };
    let head = lines.iter().position(is_head)?;
    let depth = indent(lines[head]);
    let mut from = head;
    while from > 0 && lines[from - 1].trim_start().starts_with('@') {
        from -= 1;
    }
    let is_inside = |line: &&&str| line.trim().is_empty() || indent(line) > depth;
    let to = head + 1 + lines[head + 1..].iter().take_while(is_inside).count();
    Some([&lines[..from], &lines[to..]].concat().concat())
}

/// Cuts from the line of a mark to the end of the bracket that follows it.
fn without_block(text: &str, mark: &str, has_body: bool) -> Option<String> {
    let at = text.find(mark)?;
    let mut start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    while start > 0 {
        let above = text[..start - 1].rfind('\n').map_or(0, |end| end + 1);
        if !text[above..start].trim_start().starts_with("#[") {
            break;
        }
        start = above;
    }
    let (open, close) = if has_body { ('{', '}') } else { ('(', ')') };
    let from = at + text[at..].find(open)?;
    let mut depth = 0_usize;
    let mut quote = None;
    let mut letters = text[from..].char_indices();
    while let Some((offset, letter)) = letters.next() {
        match quote {
            Some(known) => {
                if letter == '\\' {
                    letters.next();
                } else if letter == known {
                    quote = None;
                }
            }
            None if letter == '"' || (!has_body && (letter == '\'' || letter == '`')) => {
                quote = Some(letter);
            }
            None if letter == open => depth += 1,
            None if letter == close => {
                depth -= 1;
                if depth == 0 {
                    let end = from + offset + letter.len_utf8();
                    let rest = text[end..].trim_start_matches(';');
                    return Some(format!(
                        "{}{}",
                        &text[..start],
                        rest.trim_start_matches('\n')
                    ));
                }
            }
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_back_tests_are_cut_out() {
        for (path, text, name, expected) in [
            (
                "t.py",
                "import x\ndef test_a():\n    assert 1\n\n@mark\ndef test_b():\n    assert 2\nX = 1\n",
                "test_b",
                Some("import x\ndef test_a():\n    assert 1\n\nX = 1\n"),
            ),
            (
                "t.js",
                "test('a', () => { f(')') });\ntest('b', () => g());\n",
                "b",
                Some("test('a', () => { f(')') });\n"),
            ),
            (
                "t.rs",
                "#[test]\nfn a() { x(\"}\"); }\n#[test]\nfn b() {\n  y();\n}\n",
                "a",
                Some("#[test]\nfn b() {\n  y();\n}\n"),
            ),
            ("t.py", "def test_a(): pass\n", "test_z", None),
            ("t.sh", "true\n", "t", None),
        ] {
            assert_eq!(
                without_tests(path, text, &[name]).as_deref(),
                expected,
                "{path} {name}"
            );
        }
    }
}
