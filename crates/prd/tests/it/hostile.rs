//! Hostile bytes: a clear error, bounded work, no panic.

use std::fmt::Write as _;

use prd::limits::{FILE_BYTES_MAX, STORIES_MAX, YAML_BYTES_MAX};

use crate::support::{codes, drawn, read_text};

fn first_message(name: &str, text: impl Into<Vec<u8>>) -> String {
    let reading = read_text(name, text);
    assert!(reading.has_errors());
    let found = reading
        .diagnostics
        .iter()
        .find(|found| found.severity == prd::Severity::Error)
        .expect("an error");
    format!("{} {}", found.code, found.message)
}

#[test]
fn a_file_over_the_limit_is_not_parsed() {
    let text = vec![b' '; FILE_BYTES_MAX + 1];
    assert_eq!(
        first_message("prd.json", text),
        "PRD012 the PRD is too large: the limit is 48 MiB"
    );
    let text = vec![b' '; YAML_BYTES_MAX + 1];
    assert_eq!(
        first_message("prd.yaml", text.clone()),
        "PRD012 the PRD is too large: the limit is 4 MiB"
    );
    assert_eq!(
        first_message("prd.md", text),
        "PRD012 the PRD is too large: the limit is 4 MiB for one ticket"
    );
}

#[test]
fn a_million_stories_are_counted_and_refused() {
    let text = format!("[{}]", vec!["{}"; 1_000_000].join(","));
    assert_eq!(
        first_message("prd.json", text),
        "PRD012 too many stories in one PRD: the limit is 100,000"
    );
    let text = vec!["- a: 1"; STORIES_MAX + 1].join("\n");
    assert_eq!(
        first_message("prd.yaml", text),
        "PRD012 too many stories in one PRD: the limit is 100,000"
    );
}

#[test]
fn deep_nesting_is_refused_in_every_syntax() {
    let too_deep = "PRD012 lists and objects are nested too deep: the limit is 128";
    for (name, text) in [
        ("prd.json", "[".repeat(100_000)),
        ("prd.json", "{\"a\":".repeat(100_000)),
        ("prd.yaml", "[".repeat(100_000)),
        ("prd.yaml", "{a: ".repeat(100_000)),
        ("prd.yaml", "- ".repeat(100_000)),
    ] {
        assert_eq!(
            first_message(name, text.clone()),
            too_deep,
            "{name} {}",
            &text[..4]
        );
    }
    let mut blocks = String::new();
    for depth in 0..2_000 {
        let _ = writeln!(blocks, "{}a:", " ".repeat(depth));
    }
    assert_eq!(first_message("prd.yaml", blocks), too_deep);
}

#[test]
fn bytes_that_are_no_text_are_named() {
    for (bytes, label) in [
        (&b"{\"stories\": \xff}"[..], "these bytes are not UTF-8"),
        (b"\xff\xfe{\0}\0", "these bytes are not UTF-8"),
        (b"{\"a\": \"\0\"}", "a NUL byte"),
        (b"\0\0\0\0", "a NUL byte"),
    ] {
        let reading = read_text("prd.json", bytes);
        assert_eq!(codes(&reading), ["PRD002"], "{bytes:?}");
        assert_eq!(reading.diagnostics[0].label, label, "{bytes:?}");
        assert!(!drawn(&reading).contains('\0'));
    }
}

#[test]
fn aliases_that_expand_for_ever_are_stopped() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in ('b'..='i').zip('a'..='h') {
        let uses = vec![format!("*{before}"); 10].join(", ");
        let _ = writeln!(text, "{name}: &{name} [{uses}]");
    }
    text += "stories: *i\n";
    assert_eq!(
        first_message("prd.yaml", text),
        "PRD012 too many values in one file: the limit is 4,000,000"
    );
    assert_eq!(
        first_message("prd.yaml", "a: &a {b: *a}\nstories: []\n"),
        "PRD003 broken YAML: this alias names a value that it is itself part of"
    );
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for index in 1..200 {
        let _ = writeln!(chain, "a{index}: &a{index} [*a{}]", index - 1);
    }
    assert_eq!(
        first_message("prd.yaml", chain),
        "PRD012 lists and objects are nested too deep: the limit is 128"
    );
}

#[test]
fn numbers_that_no_program_holds_are_kept_or_refused() {
    let reading = read_text(
        "prd.json",
        r#"[{"id":1e999,"title":"T","steps":["c"],"weight":-1e999,"big":123456789012345678901234567890}]"#,
    );
    let prd = reading.prd.expect("stories");
    assert_eq!(prd.stories[0].id.as_str(), "1e999");
    assert!(prd::canonical(&prd, prd::Syntax::Json).contains("123456789012345678901234567890"));
    assert_eq!(
        first_message("prd.json", r#"[{"id":"a","title":"T","priority":1e999}]"#),
        "PRD015 `priority` cannot be a number of that size; the story is treated as having none"
    );
}

#[test]
fn many_faults_give_a_bounded_answer() {
    let stories: Vec<String> = (0..20_000)
        .map(|index| format!(r#"{{"id":"-{index}","title":"T"}}"#))
        .collect();
    let reading = read_text("prd.json", format!("[{}]", stories.join(",")));
    assert_eq!(
        reading.diagnostics.len(),
        prd::limits::DIAGNOSTICS_PER_CODE_MAX
    );
    assert_eq!(
        reading.diagnostics_left_out,
        [("PRD010", 20_000 - prd::limits::DIAGNOSTICS_PER_CODE_MAX)]
    );
    let keys: Vec<String> = (0..100_000).map(|_| r#""k":1"#.to_owned()).collect();
    let reading = read_text("prd.json", format!("[{{{}}}]", keys.join(",")));
    assert_eq!(
        codes(&reading)
            .iter()
            .filter(|code| **code == "PRD014")
            .count(),
        prd::limits::DIAGNOSTICS_PER_CODE_MAX
    );
}

#[test]
fn a_long_chain_and_a_long_cycle_do_not_overflow_the_stack() {
    let story = |index: usize, on: usize| {
        format!(r#"{{"id":"s{index}","title":"T","steps":["c"],"deps":["s{on}"]}}"#)
    };
    let count = 50_000;
    let cycle: Vec<String> = (0..count)
        .map(|index| story(index, (index + 1) % count))
        .collect();
    let reading = read_text("prd.json", format!("[{}]", cycle.join(",")));
    assert_eq!(codes(&reading), ["PRD009"]);
    assert!(
        reading.diagnostics[0]
            .message
            .ends_with("… 49970 more … → `s0`"),
        "{}",
        reading.diagnostics[0].message
    );
    let chain: Vec<String> = (0..count)
        .map(|index| story(index, (index + 1).min(count - 1)))
        .collect();
    let prd = read_text("prd.json", format!("[{}]", chain.join(",")))
        .prd
        .expect("stories");
    assert_eq!(
        prd::order(&prd).held.len(),
        count,
        "the last waits for itself, and all for the last"
    );
}

#[test]
fn one_very_long_line_is_shown_in_a_window() {
    let text = format!(
        "{}[{{\"id\": \"-x\", \"title\": \"{}\"}}]",
        " ".repeat(200_000),
        "é".repeat(200_000)
    );
    let reading = read_text("prd.json", text);
    assert!(drawn(&reading).len() < 2_000, "{}", drawn(&reading).len());
    assert!(drawn(&reading).contains("\"-x\""));
}

#[test]
fn a_terminal_is_not_reached_through_a_message() {
    let text = "[{\"id\": \"-\u{1b}[2J\u{7}\u{202e}\", \"title\": \"\u{1b}]0;x\u{7}\"}]";
    let reading = read_text("prd.json", text);
    assert!(
        drawn(&reading)
            .chars()
            .all(|letter| letter == '\n' || (!letter.is_control() && letter != '\u{202e}'))
    );
}
