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
    let ticket = [b"---\nid: a\n---\n", text.as_slice()].concat();
    assert_eq!(
        first_message("prd.md", ticket),
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

/// Reads a hostile plan: it ends, gives stories or says why not, and its complaints stay short.
fn read_hostile(what: &str, name: &str, text: String) -> usize {
    let reading = read_text(name, text);
    assert!(
        drawn(&reading).len() < 300_000,
        "{what}: {}",
        drawn(&reading).len()
    );
    let stories = reading.prd.as_ref().map_or(0, |prd| prd.stories.len());
    assert_eq!(stories == 0, reading.has_errors(), "{what}");
    stories
}

/// Reading takes time that grows with the length of a text, and no more: a reader that goes over it
/// again for every line would not end here. Two texts are as large as a file may be.
#[test]
fn a_huge_plan_is_read_in_one_go() {
    let whole_file = |piece: &str| piece.repeat((FILE_BYTES_MAX - 100) / piece.len());
    let of_size = |piece: &str| piece.repeat(1_000_000 / piece.len());
    for (what, name, text, stories) in [
        ("blank lines", "plan.md", of_size("\n"), 0),
        ("blanks", "plan.md", whole_file(" "), 0),
        (
            "one line",
            "plan.md",
            format!("- [ ] {}", whole_file("word")),
            1,
        ),
        (
            "one heading",
            "plan.md",
            format!("### US-1: {}", of_size("a ")),
            1,
        ),
        (
            "one line of stars",
            "plan.md",
            format!("- [ ] {}", of_size("**a*_")),
            1,
        ),
        (
            "one line of brackets",
            "plan.md",
            format!("- [ ] {}", of_size("[")),
            1,
        ),
        ("one line of hashes", "plan.md", of_size("#"), 0),
        ("fences", "plan.md", of_size("```\n"), 0),
        (
            "longer and longer fences",
            "plan.md",
            of_size("````\n```\n~~~\n"),
            0,
        ),
        ("open comments", "plan.md", of_size("<!--\n"), 0),
        ("quotes", "plan.md", of_size("> "), 0),
        ("cells", "plan.md", of_size("|"), 0),
        (
            "rows",
            "plan.md",
            format!("|a|status|\n|-|-|\n{}", of_size("|b|c|\n")),
            0,
        ),
        ("rules", "plan.md", of_size("---\n"), 0),
        ("one line of JSON", "issues.jsonl", of_size("["), 0),
        ("blank lines of JSON", "issues.jsonl", of_size("\n"), 0),
    ] {
        assert_eq!(read_hostile(what, name, text), stories, "{what}");
    }
}

#[test]
fn a_plan_with_very_many_of_everything_is_read_or_refused() {
    let too_many = "PRD012 too many stories in one PRD: the limit is 100,000";
    let boxes = "- [ ] a\n".repeat(1_000_000);
    assert_eq!(first_message("plan.md", boxes), too_many);
    let headings = "### US-1: a\n".repeat(100_001);
    assert_eq!(first_message("plan.md", headings), too_many);
    let numbered = |index: usize| format!("- [ ] {index}. a\n");
    let text: String = (0..20_000).map(numbered).collect();
    assert_eq!(read_hostile("numbered boxes", "plan.md", text), 20_000);
    let nested: String = (0..1_500)
        .map(|depth| format!("{}- [ ] a\n", "  ".repeat(depth)))
        .collect();
    assert_eq!(read_hostile("nested boxes", "plan.md", nested), 1);
    let mut number = "1".to_owned();
    let deep: String = (0..3_000)
        .map(|_| {
            number += ".1";
            format!("- [ ] {number} a\n")
        })
        .collect();
    assert_eq!(read_hostile("deep numbers", "plan.md", deep), 1);
    let same = "- [ ] 1. Same title\n".repeat(20_000);
    assert_eq!(read_hostile("equal ids", "plan.md", same), 20_000);
    let waits = |index: usize| format!("- [ ] T{index:06} a (depends on T{:06})\n", index + 1);
    let chain: String = (0..20_000).map(waits).collect();
    assert_eq!(read_hostile("a chain", "plan.md", chain), 20_000);
    let legends = "## Legend\n- [ ] open\n- [x] done\n".repeat(20_000);
    assert_eq!(read_hostile("legends", "plan.md", legends), 0);
}

/// A range names at most the stories that there are, and all dependencies together are bounded.
#[test]
fn ranges_of_dependencies_are_bounded() {
    let all = |index: usize| format!("- [ ] T{index:04} a (depends on T0001-T9999999999)\n");
    let text: String = (1..1_600).map(all).collect();
    assert_eq!(
        first_message("plan.md", text),
        "PRD012 too many dependencies: the limit is 2,000,000"
    );
}
