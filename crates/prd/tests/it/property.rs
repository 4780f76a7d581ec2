//! Generated PRDs in many styles: marking gives exactly the text that the author would have written
//! for that state.

use prd::{Mark, Options, mark};
use proptest::prelude::*;

use crate::support::{assert_only_state_changed, assert_reads_as_marked, read_text};

/// How a story writes its state.
#[derive(Debug, Clone, Copy, PartialEq)]
enum StateField {
    Flag(&'static str, bool),
    Status(&'static str),
    Missing,
}

#[derive(Debug, Clone)]
struct GeneratedStory {
    title: String,
    criteria: Vec<String>,
    state: StateField,
    /// Whether the state field comes before the title.
    early: bool,
}

/// How the file is written.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent habit of an author"
)]
struct Look {
    syntax: Syntax,
    line_end: &'static str,
    indent: &'static str,
    byte_order_mark: bool,
    comments: bool,
    trailing_commas: bool,
    final_line_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Syntax {
    PrettyJson,
    DenseJson,
    Yaml,
}

fn state_fields() -> impl Strategy<Value = StateField> {
    let keys = prop::sample::select(vec!["passes", "passed", "completed", "done"]);
    prop_oneof![
        4 => (keys, any::<bool>()).prop_map(|(key, flag)| StateField::Flag(key, flag)),
        3 => prop::sample::select(vec!["pending", "in-progress", "done", "blocked"]).prop_map(StateField::Status),
        2 => Just(StateField::Missing),
    ]
}

fn texts() -> impl Strategy<Value = String> {
    // Letters of several widths, and characters that JSON and YAML must quote.
    "[a-zA-Zé漢🚀:#,{}\\[\\]&*!|>'%@` -]{1,24}".prop_map(|text| format!("T{text}"))
}

fn stories() -> impl Strategy<Value = Vec<GeneratedStory>> {
    let story = (
        texts(),
        prop::collection::vec(texts(), 1..4),
        state_fields(),
        any::<bool>(),
    )
        .prop_map(|(title, criteria, state, early)| GeneratedStory {
            title,
            criteria,
            state,
            early,
        });
    prop::collection::vec(story, 1..6)
}

fn looks() -> impl Strategy<Value = Look> {
    let syntax = prop::sample::select(vec![Syntax::PrettyJson, Syntax::DenseJson, Syntax::Yaml]);
    let indent = prop::sample::select(vec!["  ", "    ", "\t"]);
    (syntax, any::<bool>(), indent, any::<[bool; 4]>()).prop_map(
        |(syntax, windows, indent, [mark, comments, commas, last])| Look {
            syntax,
            line_end: if windows { "\r\n" } else { "\n" },
            indent: if syntax == Syntax::Yaml { "  " } else { indent },
            byte_order_mark: mark,
            comments,
            trailing_commas: commas,
            final_line_end: last,
        },
    )
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

/// The key and the written value of each field, in order.
fn fields(story: &GeneratedStory, number: usize) -> Vec<(&'static str, String)> {
    let state = match story.state {
        StateField::Flag(key, flag) => Some((key, flag.to_string())),
        StateField::Status(word) => Some(("status", quoted(word))),
        StateField::Missing => None,
    };
    let criteria: Vec<String> = story.criteria.iter().map(|text| quoted(text)).collect();
    let mut fields = vec![
        ("id", quoted(&format!("s{number}"))),
        ("title", quoted(&story.title)),
        ("acceptance_criteria", format!("[{}]", criteria.join(", "))),
        ("notes", "12.50".to_owned()),
    ];
    if let Some(state) = state {
        let at = if story.early { 1 } else { fields.len() };
        fields.insert(at, state);
    }
    fields
}

fn write(stories: &[GeneratedStory], look: Look) -> String {
    let mut lines = Vec::new();
    let comma = |last: bool| {
        if !last || look.trailing_commas {
            ","
        } else {
            ""
        }
    };
    match look.syntax {
        Syntax::DenseJson => {
            let story = |(index, story): (usize, &GeneratedStory)| {
                let fields: Vec<String> = fields(story, index)
                    .into_iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            };
            let stories: Vec<String> = stories.iter().enumerate().map(story).collect();
            lines.push(format!("{{\"stories\":[{}]}}", stories.join(",")));
        }
        Syntax::PrettyJson => {
            lines.push("{".to_owned());
            lines.push(format!("{}\"stories\": [", look.indent));
            for (index, story) in stories.iter().enumerate() {
                lines.push(format!("{}{{", look.indent.repeat(2)));
                let fields = fields(story, index);
                for (at, (key, value)) in fields.iter().enumerate() {
                    let comment = if look.comments && at == 1 {
                        " // why"
                    } else {
                        ""
                    };
                    lines.push(format!(
                        "{}\"{key}\": {value}{}{comment}",
                        look.indent.repeat(3),
                        comma(at + 1 == fields.len())
                    ));
                }
                lines.push(format!(
                    "{}}}{}",
                    look.indent.repeat(2),
                    comma(index + 1 == stories.len())
                ));
            }
            lines.push(format!("{}]", look.indent));
            lines.push("}".to_owned());
        }
        Syntax::Yaml => {
            lines.push("stories:".to_owned());
            for (index, story) in stories.iter().enumerate() {
                for (at, (key, value)) in fields(story, index).iter().enumerate() {
                    let comment = if look.comments && at == 1 {
                        "   # why"
                    } else {
                        ""
                    };
                    lines.push(format!(
                        "  {} {key}: {value}{comment}",
                        if at == 0 { "-" } else { " " }
                    ));
                }
            }
        }
    }
    let mark = if look.byte_order_mark { "\u{FEFF}" } else { "" };
    let end = if look.final_line_end {
        look.line_end
    } else {
        ""
    };
    format!("{mark}{}{end}", lines.join(look.line_end))
}

/// The state field as the author would have written it. `done` is the only status word for it in
/// these files.
fn passed(state: StateField) -> StateField {
    match state {
        StateField::Flag(key, _) => StateField::Flag(key, true),
        StateField::Status(_) => StateField::Status("done"),
        StateField::Missing => StateField::Missing,
    }
}

proptest! {
    #[test]
    fn property_marking_gives_what_the_author_would_have_written(stories in stories(), look in looks()) {
        let name = if look.syntax == Syntax::Yaml { "prd.yaml" } else { "prd.json" };
        let text = write(&stories, look);
        let reading = read_text(name, text.clone());
        let prd = reading.prd.clone().unwrap_or_else(|| panic!("no stories in {text}"));
        prop_assert_eq!(prd.stories.len(), stories.len());
        for (index, story) in stories.iter().enumerate() {
            let id = &prd.stories[index].id;
            for state in [Mark::Passed, Mark::Skipped, Mark::Open] {
                let marked = mark(&reading, id.as_str(), state, &Options::default());
                let marked = marked.unwrap_or_else(|refused| panic!("{}: {text}", refused.message));
                assert_reads_as_marked(&reading, &marked, id, state);
                if look.syntax != Syntax::DenseJson {
                    assert_only_state_changed(&reading, &marked, id, state);
                }
                if state == Mark::Passed && story.state != StateField::Missing {
                    let mut expected = stories.clone();
                    expected[index].state = passed(story.state);
                    prop_assert_eq!(&marked.text, &write(&expected, look));
                }
            }
        }
    }

    #[test]
    fn property_the_canonical_form_says_the_same(stories in stories(), look in looks()) {
        let name = if look.syntax == Syntax::Yaml { "prd.yaml" } else { "prd.json" };
        let prd = read_text(name, write(&stories, look)).prd.expect("stories");
        crate::canonical::assert_says_the_same("generated", &prd);
    }
}
