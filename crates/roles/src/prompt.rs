//! Prompts from templates; each placeholder is filled exactly once and none is left.
//!
//! The story, its criteria, the commands and the feedback always fit, each with a bound of its own.
//! Everything else shares the room that is left: see `sections`.

use std::collections::BTreeMap;

use kernel::{Commit, Proof, Review, Stage, StorySpec};

use crate::context::Context;
use crate::evidence::{flags_section, obligations_answer, obligations_section, strength_line};
use crate::sections::{bullets, fitted};

/// What the sections and the core may take together, unless the core alone is longer.
pub const PROMPT_BYTES: usize = 16 * 1024;

/// Bounds of the core.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;
const NOTES_BYTES_MAX: usize = 8 * 1024;
/// The last attempt's feedback is told whole; this bound is for answers that are no judgment.
const LAST_FEEDBACK_BYTES_MAX: usize = 64 * 1024;
const EARLIER_FEEDBACK_BYTES_MAX: usize = 2 * 1024;
const FEEDBACK_MAX: usize = 3;

/// Bytes of what is said of an answer that could not be used.
const REPAIR_BYTES_MAX: usize = 4 * 1024;

/// Bounds of what a judge is shown of the checks.
const CHECKS_BYTES_MAX: usize = 24 * 1024;

/// Placeholders whose text is put at the end of a project's own template that lacks them: whoever
/// wrote it could not know them, or forgot what nobody can do without.
const NEVER_LEFT_OUT: [&str; 6] = [
    "commands",
    "proof",
    "strength",
    "flags",
    "whole_answer",
    "answer",
];

/// Placeholders of older versions that stand in people's templates, with their names of today.
const RENAMED: [(&str, &str); 2] = [
    ("{{obliged}}", "{{obligations}}"),
    ("{{obliged_answer}}", "{{obligations_answer}}"),
];

/// What a prover must answer.
const PROOF_ANSWER: &str = r#"## Your answer

Say what you did, so that the judge and a person can see the same. End with one JSON object and nothing after it:

{"checked": ["what you checked, and how"], "found": ["what was wrong; empty if nothing was"], "mended": ["what you changed; empty if nothing"], "see": ["how to see it: a command to run, a place to look at"]}

"#;

/// What a PASS must say of the criteria.
const WHOLE_ANSWER: &str = "Name every criterion in `criteria`, each in its exact words and with the evidence that you saw. A PASS that\nleaves one out, or has no evidence for it, is no verdict.";

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
        &["id", "criteria", "candidate", "diff", "obligations"],
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

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// Sections that were shortened, with their size.
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
    let template = &with_what_it_lacks(&renamed(template), shipped);
    let used = placeholders(template);
    let core: Vec<Value> = core_values(story, context)
        .into_iter()
        .filter(|(name, _)| used.contains(name))
        .collect();
    let core_bytes = template.len() + core.iter().map(|(_, value)| value.len()).sum::<usize>();
    let room = PROMPT_BYTES.saturating_sub(core_bytes);
    let (sections, cut) = fitted(|name| used.contains(&name), context, room);
    let values: Vec<(&str, &str)> = core
        .iter()
        .chain(&sections)
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut text = fill(template, &values);
    if let Some(why) = &context.repair {
        let why = bounded(why, REPAIR_BYTES_MAX);
        text.push_str(&format!("\nYour last answer could not be used: {why}\n"));
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
    let text = renamed(text);
    let (used, allowed) = (placeholders(&text), placeholders(shipped));
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

/// A template with the names that placeholders have today.
fn renamed(template: &str) -> String {
    let mut text = template.to_owned();
    for (old, new) in RENAMED {
        text = text.replace(old, new);
    }
    text
}

/// A template with the placeholders that every prompt of its kind must have.
fn with_what_it_lacks(template: &str, shipped: &str) -> String {
    let (used, known) = (placeholders(template), placeholders(shipped));
    let mut whole = template.to_owned();
    for name in NEVER_LEFT_OUT {
        if known.contains(&name) && !used.contains(&name) {
            whole.push_str(&format!("\n\n{{{{{name}}}}}"));
        }
    }
    whole
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
        Stage::Baseline | Stage::Check | Stage::Confirm => "",
    }
}

type Value = (&'static str, String);

fn core_values(story: &StorySpec, context: &Context) -> Vec<Value> {
    let id = |commit: &Option<Commit>| commit.as_ref().map(ToString::to_string).unwrap_or_default();
    vec![
        ("id", story.id.to_string()),
        ("title", story.title.clone()),
        ("description", story_words(story)),
        ("criteria", bullets(&story.criteria)),
        ("feedback", feedback(&context.feedback)),
        (
            "answers",
            section("What people say", &context.answers.join("\n\n")),
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
        ("obligations", obligations_section(&context.obligations)),
        (
            "obligations_answer",
            obligations_answer(&context.obligations).to_owned(),
        ),
        ("flags", flags_section(&context.flags)),
        ("strength", strength_line(context.mutants)),
        ("whole_answer", WHOLE_ANSWER.to_owned()),
        (
            "review",
            context
                .review
                .as_ref()
                .map_or_else(String::new, review_section),
        ),
        (
            "notes",
            section("To be known of this candidate", &bullets(&context.notes)),
        ),
        ("commands", commands_section(&context.commands)),
        (
            "proof",
            context
                .proof
                .as_ref()
                .map_or_else(String::new, proof_section),
        ),
        ("answer", PROOF_ANSWER.to_owned()),
    ]
}

/// Everything that the author says of a story beside its title and criteria.
fn story_words(story: &StorySpec) -> String {
    let mut words = vec![bounded(&story.description, DESCRIPTION_BYTES_MAX)];
    words.extend(
        story
            .group
            .as_ref()
            .map(|group| format!("Part of: {group}")),
    );
    if !story.notes.trim().is_empty() {
        let notes = bounded(story.notes.trim(), NOTES_BYTES_MAX);
        words.push(format!("### Notes of the author\n\n{notes}"));
    }
    if !story.files.is_empty() {
        let files: Vec<String> = story.files.iter().map(|file| format!("`{file}`")).collect();
        words.push(format!(
            "### Files that the author expects to change\n\n{}",
            bullets(&files)
        ));
    }
    if !story.commands.is_empty() {
        let commands: Vec<String> = story
            .commands
            .iter()
            .map(|each| format!("`{}` (shows: {})", each.command, each.shows))
            .collect();
        words.push(format!(
            "### Commands that the author names for this story\n\n{}",
            bullets(&commands)
        ));
    }
    words.retain(|each| !each.is_empty());
    words.join("\n\n")
}

fn commands_section(commands: &[(String, String)]) -> String {
    let lines: Vec<String> = commands
        .iter()
        .map(|(name, command)| format!("{name}: `{command}`"))
        .collect();
    section("Commands of this project", &bullets(&lines))
}

fn proof_section(proof: &Proof) -> String {
    let lists = [
        ("Checked", &proof.checked),
        ("Found", &proof.found),
        ("Mended", &proof.mended),
        ("How to see it", &proof.see),
    ];
    let each = lists.map(|(title, lines)| {
        let lines = if lines.is_empty() {
            "nothing".to_owned()
        } else {
            bullets(lines)
        };
        format!("### {title}\n\n{lines}")
    });
    section(
        "What the prover says of its work",
        &bounded(&each.join("\n\n"), CHECKS_BYTES_MAX),
    )
}

fn placeholders(text: &str) -> Vec<&str> {
    text.split("{{")
        .skip(1)
        .filter_map(|rest| rest.split_once("}}").map(|(name, _)| name))
        .collect()
}

fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!("## {title}\n\n{body}\n\n")
    }
}

/// The last attempts' feedback. The last judgment is told whole; of earlier ones the beginning is
/// enough.
fn feedback(feedback: &[String]) -> String {
    let first = feedback.len().saturating_sub(FEEDBACK_MAX);
    let each = feedback.iter().zip(1..).skip(first).map(|(text, attempt)| {
        format!(
            "### Attempt {attempt} was rejected\n\n{}\n\n",
            bounded(
                text,
                if attempt == feedback.len() {
                    LAST_FEEDBACK_BYTES_MAX
                } else {
                    EARLIER_FEEDBACK_BYTES_MAX
                }
            )
        )
    });
    let all: String = each.collect();
    section("What earlier attempts taught", all.trim_end())
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
mod tests;
