//! Prompts from templates; each placeholder is filled exactly once and none is left.
//!
//! The story, its criteria and the feedback always fit, each with a bound of its own. Everything
//! else is optional: a section that is too long for itself, or for the whole, is left out as a
//! whole and said to be left out.

use std::collections::BTreeMap;

use kernel::{Commit, Review, Stage, StorySpec};

/// What optional sections and core may take together, unless the core alone is longer.
pub const PROMPT_BYTES: usize = 8 * 1024;

/// Bounds of the core.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;
const FEEDBACK_BYTES_MAX: usize = 6 * 1024;
const FEEDBACK_MAX: usize = 3;

/// Bounds of what a judge is shown of the checks.
const CHECKS_BYTES_MAX: usize = 24 * 1024;

/// The optional sections in the order in which they are given up, each with the most that it may
/// take.
const SECTIONS: [(&str, usize); 4] = [
    ("inventory", 2 * 1024),
    ("learned", 2 * 1024),
    ("guides", 6 * 1024),
    ("patterns", 4 * 1024),
];

/// The templates by name, and the placeholders that one must not lack.
const TEMPLATES: [(&str, &str, &[&str]); 8] = [
    (
        "implementor",
        include_str!("prompts/implementor.md"),
        &["id", "criteria", "feedback"],
    ),
    (
        "write-tests",
        include_str!("prompts/write-tests.md"),
        &["id", "criteria", "order"],
    ),
    (
        "review",
        include_str!("prompts/review.md"),
        &["id", "criteria", "candidate", "diff"],
    ),
    (
        "prove",
        include_str!("prompts/prove.md"),
        &["id", "criteria", "candidate"],
    ),
    (
        "judge",
        include_str!("prompts/judge.md"),
        &["id", "criteria", "candidate", "diff", "obliged"],
    ),
    (
        "arbitrate",
        include_str!("prompts/arbitrate.md"),
        &["id", "criteria", "failing"],
    ),
    (
        "recheck",
        include_str!("prompts/recheck.md"),
        &["id", "criteria", "candidate"],
    ),
    (
        "continue",
        include_str!("prompts/continue.md"),
        &["answers"],
    ),
];

/// Everything that a prompt may speak of.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The commit that the story began at.
    pub base: Option<Commit>,
    /// What is proposed.
    pub candidate: Option<Commit>,
    /// The change.
    pub diff: String,
    /// What the checks showed.
    pub checks: String,
    /// What earlier attempts taught, oldest first.
    pub feedback: Vec<String>,
    /// What people answered.
    pub answers: Vec<String>,
    /// Test files that the implementor can see.
    pub tests: Vec<String>,
    /// Why tests must be written again.
    pub order: Option<String>,
    /// Where test files may be.
    pub test_paths: String,
    /// The tests in dispute.
    pub failing: Vec<String>,
    /// Older tests that gave way.
    pub obliged: Vec<String>,
    /// What the reviewer said.
    pub review: Option<Review>,
    /// What is to be known of how the candidate was made.
    pub notes: Vec<String>,
    /// The project's `## Codebase Patterns`.
    pub patterns: Option<String>,
    /// The project's AGENTS.md and CLAUDE.md.
    pub guides: Vec<(String, String)>,
    /// What earlier stories of the loop taught.
    pub learned: Vec<String>,
    /// Entry points, manifests and test configuration.
    pub inventory: Vec<String>,
    /// Whether the last answer could not be used.
    pub repair: bool,
    /// Whether a skipped story is looked at again.
    pub recheck: bool,
    /// Whether an earlier try's session is gone on with, which knows the task already.
    pub goes_on: bool,
}

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// Sections that were left out, with their size.
    pub cut: Vec<String>,
}

/// Makes the prompt of a stage; `own` are templates of the project that take the place of ours.
pub fn prompt(
    stage: Stage,
    story: &StorySpec,
    context: &Context,
    own: &BTreeMap<String, String>,
) -> Prompt {
    let name = if context.goes_on {
        "continue"
    } else {
        template_name(stage, context.recheck)
    };
    let shipped = TEMPLATES
        .iter()
        .find(|(known, _, _)| *known == name)
        .map_or("", |(_, text, _)| text);
    let template = own.get(name).map_or(shipped, String::as_str);
    let core = core_values(story, context);
    let core_bytes = template.len() + core.iter().map(|(_, value)| value.len()).sum::<usize>();
    let (optional, cut) =
        optional_values(template, context, PROMPT_BYTES.saturating_sub(core_bytes));
    let values: Vec<(&str, &str)> = core
        .iter()
        .chain(&optional)
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut text = fill(template, &values);
    if context.repair {
        text.push_str(
            "\nYour last answer could not be used: it did not end with the JSON object that is asked for.\n",
        );
    }
    Prompt { text, cut }
}

/// Says what is wrong with a project's own template.
pub fn check_template(name: &str, text: &str) -> Result<(), String> {
    let known: Vec<&str> = TEMPLATES.iter().map(|(name, _, _)| *name).collect();
    let Some((_, shipped, required)) = TEMPLATES.iter().find(|(known, _, _)| *known == name) else {
        return Err(format!(
            "there is no prompt `{name}`; there are {}",
            known.join(", ")
        ));
    };
    let (used, allowed) = (placeholders(text), placeholders(shipped));
    if let Some(unknown) = used.iter().find(|used| !allowed.contains(used)) {
        return Err(format!(
            "`{{{{{unknown}}}}}` is no placeholder of it; there are {}",
            allowed.join(", ")
        ));
    }
    match required.iter().find(|required| !used.contains(required)) {
        Some(missing) => Err(format!("`{{{{{missing}}}}}` is missing")),
        None => Ok(()),
    }
}

fn template_name(stage: Stage, recheck: bool) -> &'static str {
    match stage {
        Stage::Implement => "implementor",
        Stage::WriteTests => "write-tests",
        Stage::Review => "review",
        Stage::Prove => "prove",
        Stage::Judge if recheck => "recheck",
        Stage::Judge => "judge",
        Stage::Arbitrate => "arbitrate",
        Stage::Baseline | Stage::Check => "",
    }
}

type Value = (&'static str, String);

fn core_values(story: &StorySpec, context: &Context) -> Vec<Value> {
    let id = |commit: &Option<Commit>| commit.as_ref().map(ToString::to_string).unwrap_or_default();
    let obliged = !context.obliged.is_empty();
    vec![
        ("id", story.id.to_string()),
        ("title", story.title.clone()),
        (
            "description",
            bounded(&story.description, DESCRIPTION_BYTES_MAX),
        ),
        ("criteria", bullets(&story.criteria)),
        ("feedback", feedback(&context.feedback)),
        (
            "answers",
            section("What people answered", &context.answers.join("\n\n")),
        ),
        (
            "tests",
            section(
                "Tests that your work must pass, and must not change",
                &bullets(&context.tests),
            ),
        ),
        (
            "order",
            section(
                "Why you write them again",
                context.order.as_deref().unwrap_or_default(),
            ),
        ),
        ("test_paths", context.test_paths.clone()),
        ("base", id(&context.base)),
        ("candidate", id(&context.candidate)),
        ("diff", context.diff.clone()),
        ("checks", bounded(&context.checks, CHECKS_BYTES_MAX)),
        ("failing", bullets(&context.failing)),
        (
            "obliged",
            if obliged {
                obliged_section(&context.obliged)
            } else {
                String::new()
            },
        ),
        (
            "obliged_answer",
            if obliged {
                r#", "obliged": [{"test": "...", "criterion": "..."}]"#
            } else {
                ""
            }
            .to_owned(),
        ),
        (
            "review",
            context
                .review
                .as_ref()
                .map(review_section)
                .unwrap_or_default(),
        ),
        (
            "notes",
            section("To be known of this candidate", &bullets(&context.notes)),
        ),
    ]
}

/// The optional sections that fit, each whole or not at all.
fn optional_values(template: &str, context: &Context, room: usize) -> (Vec<Value>, Vec<String>) {
    let guides: String = context
        .guides
        .iter()
        .map(|(name, text)| format!("### {name}\n\n{}\n\n", text.trim()))
        .collect();
    let mut values: Vec<Value> = vec![
        (
            "inventory",
            section("Files to know", &bullets(&context.inventory)),
        ),
        (
            "learned",
            section("What earlier stories taught", &bullets(&context.learned)),
        ),
        (
            "guides",
            section("What the project asks of agents", guides.trim_end()),
        ),
        (
            "patterns",
            section(
                "Codebase Patterns",
                context.patterns.as_deref().unwrap_or_default(),
            ),
        ),
    ];
    let mut cut = Vec::new();
    for (name, bytes_max) in SECTIONS {
        let total: usize = values.iter().map(|(_, value)| value.len()).sum();
        let Some((_, value)) = values.iter_mut().find(|(known, _)| *known == name) else {
            continue;
        };
        let wanted = template.contains(&format!("{{{{{name}}}}}"));
        if !wanted || (value.len() <= bytes_max && total <= room) {
            continue;
        }
        if !value.is_empty() {
            cut.push(format!("{name} ({} bytes)", value.len()));
            value.clear();
        }
    }
    (values, cut)
}

fn placeholders(text: &str) -> Vec<&str> {
    text.split("{{")
        .skip(1)
        .filter_map(|rest| rest.split_once("}}").map(|(name, _)| name))
        .collect()
}

fn bullets(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("- {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!("## {title}\n\n{body}\n\n")
    }
}

/// The last attempts' feedback; each is kept from its beginning.
fn feedback(feedback: &[String]) -> String {
    let first = feedback.len().saturating_sub(FEEDBACK_MAX);
    let each = feedback.iter().zip(1..).skip(first).map(|(text, attempt)| {
        format!(
            "### Attempt {attempt} was rejected\n\n{}\n\n",
            bounded(text, FEEDBACK_BYTES_MAX / FEEDBACK_MAX)
        )
    });
    let all: String = each.collect();
    section("What earlier attempts taught", all.trim_end())
}

fn obliged_section(tests: &[String]) -> String {
    format!(
        "## Older tests that gave way\n\nThe change made these tests red, removed them or skips them:\n\n{}\n\nA PASS must \
         name in `obliged`, for each of them, the criterion in its exact words that asks for that. Where none does, it is a \
         FAIL.\n\n",
        bullets(tests)
    )
}

fn review_section(review: &Review) -> String {
    let mut body = review.summary.clone();
    let covered = review.criteria.iter().map(|each| match &each.untestable {
        Some(why) => format!("{}: no machine can test it: {why}", each.criterion),
        None => format!("{}: {}", each.criterion, each.tests.join(", ")),
    });
    let covered: Vec<String> = covered.collect();
    for (title, lines) in [("Coverage", &covered), ("Findings", &review.findings)] {
        if !lines.is_empty() {
            body.push_str(&format!("\n\n### {title}\n\n{}", bullets(lines)));
        }
    }
    section("What the reviewer says", &bounded(&body, CHECKS_BYTES_MAX))
}

/// The beginning of a text, with a note where the rest was.
fn bounded(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n… {} more bytes", &text[..end], text.len() - end)
}

/// Fills a template in one pass, so that a value that looks like a placeholder stays what it is.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or(("", after));
        let value = values
            .iter()
            .find(|(known, _)| *known == name)
            .map_or("", |(_, value)| *value);
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use kernel::{Assigned, StoryStart};

    use super::*;

    fn story() -> StorySpec {
        StorySpec {
            id: "a".into(),
            title: "Add {{criteria}}".to_owned(),
            description: "Words.".to_owned(),
            criteria: vec!["one".to_owned(), "two".to_owned()],
            rank: 0,
            depends_on: Vec::new(),
            tool: None,
            assigned: Assigned::default(),
            flow: None,
            start: StoryStart::Open,
        }
    }

    fn full_context() -> Context {
        let text = |word: &str| vec![word.to_owned()];
        Context {
            base: Commit::new(&"a".repeat(40)).ok(),
            candidate: Commit::new(&"b".repeat(40)).ok(),
            diff: "the diff".to_owned(),
            checks: "the checks".to_owned(),
            feedback: text("too slow"),
            answers: text("blue"),
            tests: text("tests/a.rs"),
            order: Some("they prove nothing".to_owned()),
            test_paths: "tests/".to_owned(),
            failing: text("test_red"),
            obliged: text("test_old"),
            review: Some(Review {
                summary: "fine".to_owned(),
                ..Review::default()
            }),
            notes: text("edits CI"),
            patterns: Some("use tabs".to_owned()),
            guides: vec![("AGENTS.md".to_owned(), "be kind".to_owned())],
            learned: text("the cache is cold"),
            inventory: text("Cargo.toml"),
            repair: false,
            recheck: false,
            goes_on: false,
        }
    }

    const STAGES: [Stage; 6] = [
        Stage::Implement,
        Stage::WriteTests,
        Stage::Review,
        Stage::Prove,
        Stage::Judge,
        Stage::Arbitrate,
    ];

    fn asked(stage: Stage, context: &Context) -> String {
        prompt(stage, &story(), context, &BTreeMap::new()).text
    }

    #[test]
    fn each_role_is_told_what_it_needs() {
        for (stage, parts) in [
            (
                Stage::Implement,
                vec![
                    "## Story a: Add {{criteria}}\n",
                    "- one\n- two\n",
                    "### Attempt 1 was rejected\n\ntoo slow",
                    "## Codebase Patterns\n\nuse tabs",
                    "be kind",
                    "- the cache is cold",
                    "- Cargo.toml",
                    "blue",
                    "- tests/a.rs",
                ],
            ),
            (
                Stage::WriteTests,
                vec!["- one\n- two\n", "they prove nothing", "(tests/)"],
            ),
            (Stage::Review, vec!["the diff", "the checks", "edits CI"]),
            (Stage::Prove, vec!["the diff", "too slow"]),
            (
                Stage::Judge,
                vec![
                    "the diff",
                    "the checks",
                    "- test_old",
                    "\"obliged\": [",
                    "fine",
                    "edits CI",
                ],
            ),
            (
                Stage::Arbitrate,
                vec!["- test_red", "the checks", "- one\n- two\n"],
            ),
        ] {
            let prompt = asked(stage, &full_context());
            for part in parts {
                assert!(
                    prompt.contains(part),
                    "{}: {part} in {prompt}",
                    stage.word()
                );
            }
        }
    }

    #[test]
    fn i07_nobody_who_writes_tests_is_told_of_a_candidate() {
        let prompt = asked(Stage::WriteTests, &full_context());
        for part in [
            "the diff",
            &"b".repeat(40),
            "the checks",
            "too slow",
            "fine",
            "test_red",
        ] {
            assert!(!prompt.contains(part), "{part} in {prompt}");
        }
    }

    #[test]
    fn every_placeholder_of_a_template_is_filled() {
        let mut plain = story();
        plain.title = "T".to_owned();
        for stage in STAGES {
            for context in [
                Context::default(),
                full_context(),
                Context {
                    recheck: true,
                    ..full_context()
                },
            ] {
                let prompt = prompt(stage, &plain, &context, &BTreeMap::new()).text;
                assert!(!prompt.contains("{{"), "{prompt}");
            }
        }
    }

    #[test]
    fn sections_go_whole_and_in_their_order_when_there_is_no_room() {
        let mut context = full_context();
        context.patterns = Some("p".repeat(3_000));
        context.guides = vec![("AGENTS.md".to_owned(), "g".repeat(3_000))];
        context.learned = vec!["l".repeat(1_500)];
        let made = prompt(Stage::Implement, &story(), &context, &BTreeMap::new());
        let names: Vec<&str> = made
            .cut
            .iter()
            .filter_map(|cut| cut.split_whitespace().next())
            .collect();
        assert_eq!(names, ["inventory", "learned"]);
        assert!(made.text.len() <= PROMPT_BYTES, "{}", made.text.len());
        assert!(made.text.contains(&"p".repeat(3_000)) && made.text.contains(&"g".repeat(3_000)));
        context.guides[0].1 = "g".repeat(7_000);
        let made = prompt(Stage::Implement, &story(), &context, &BTreeMap::new());
        assert!(
            made.cut.iter().any(|cut| cut.starts_with("guides")),
            "too long for itself: {:?}",
            made.cut
        );
        assert!(!made.text.contains("ggg"), "nothing is torn");
    }

    #[test]
    fn the_core_always_fits_and_has_bounds_of_its_own() {
        let mut long = story();
        long.description = "d".repeat(100_000);
        let context = Context {
            feedback: vec!["f".repeat(50_000); 9],
            ..Context::default()
        };
        let made = prompt(Stage::Implement, &long, &context, &BTreeMap::new());
        assert!(
            made.text.contains("- one\n- two\n")
                && made.text.contains("### Attempt 9 was rejected")
        );
        assert!(
            !made.text.contains("### Attempt 6 was rejected"),
            "the last three are enough"
        );
        assert!(made.text.len() < 40 * 1024, "{}", made.text.len());
    }

    #[test]
    fn a_projects_own_template_is_strict() {
        for (name, text, fault) in [
            ("implementor", "{{id}} {{criteria}} {{feedback}}", None),
            (
                "implementor",
                "{{id}} {{criteria}}",
                Some("`{{feedback}}` is missing"),
            ),
            (
                "implementor",
                "{{id}} {{criteria}} {{feedback}} {{diff}}",
                Some("is no placeholder of it"),
            ),
            ("planner", "", Some("there is no prompt `planner`")),
        ] {
            let found = check_template(name, text).err();
            assert_eq!(found.is_some(), fault.is_some(), "{found:?}");
            assert!(
                found
                    .unwrap_or_default()
                    .contains(fault.unwrap_or_default()),
                "{name}: {text}"
            );
        }
        let own = BTreeMap::from([(
            "implementor".to_owned(),
            "Do {{id}}: {{criteria}} {{feedback}}".to_owned(),
        )]);
        let made = prompt(Stage::Implement, &story(), &Context::default(), &own);
        assert_eq!(made.text, "Do a: - one\n- two ");
    }
}
