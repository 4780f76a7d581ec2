//! Prompts from templates; each placeholder is filled exactly once and none is left.

use kernel::{Commit, StorySpec};

const IMPLEMENTOR: &str = include_str!("prompts/implementor.md");
const JUDGE: &str = include_str!("prompts/judge.md");
const RECHECK: &str = include_str!("prompts/recheck.md");

/// What the implementor is asked.
pub fn implementor_prompt(story: &StorySpec, feedback: &[String], patterns: Option<&str>) -> String {
    fill(
        IMPLEMENTOR,
        &[
            ("id", &story.id),
            ("title", &story.title),
            ("description", &story.description),
            ("criteria", &bullets(&story.criteria)),
            ("feedback", &feedback_section(feedback)),
            (
                "patterns",
                &patterns
                    .map(|patterns| format!("## Codebase Patterns\n\n{patterns}\n\n"))
                    .unwrap_or_default(),
            ),
        ],
    )
}

/// What the judge is asked.
pub fn judge_prompt(
    story: &StorySpec,
    base: &Commit,
    candidate: &Commit,
    diff: &str,
    checks: &str,
) -> String {
    fill(
        JUDGE,
        &[
            ("id", &story.id),
            ("title", &story.title),
            ("description", &story.description),
            ("criteria", &bullets(&story.criteria)),
            ("base", base.as_str()),
            ("candidate", candidate.as_str()),
            ("diff", diff),
            ("checks", checks),
        ],
    )
}

/// What the judge is asked about a story that was set aside, once everything else is done.
pub fn recheck_prompt(story: &StorySpec, head: &Commit, checks: &str) -> String {
    fill(
        RECHECK,
        &[
            ("id", &story.id),
            ("title", &story.title),
            ("description", &story.description),
            ("criteria", &bullets(&story.criteria)),
            ("candidate", head.as_str()),
            ("checks", checks),
        ],
    )
}

fn bullets(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn feedback_section(feedback: &[String]) -> String {
    if feedback.is_empty() {
        return String::new();
    }
    let each = feedback
        .iter()
        .zip(1..)
        .map(|(text, attempt)| format!("### Attempt {attempt} was rejected\n\n{text}\n\n"));
    format!("## What earlier attempts taught\n\n{}", each.collect::<String>())
}

/// Fills a template in one pass, so that a value that looks like a placeholder stays what it is.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or(("", after));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use kernel::StoryStart;

    use super::*;

    fn story() -> StorySpec {
        StorySpec {
            id: "a".to_owned(),
            title: "Add {{criteria}}".to_owned(),
            description: "Words.".to_owned(),
            criteria: vec!["one".to_owned(), "two".to_owned()],
            rank: 0,
            depends_on: Vec::new(),
            tool: None,
            start: StoryStart::Open,
        }
    }

    #[test]
    fn an_implementor_is_told_story_criteria_and_feedback() {
        let prompt = implementor_prompt(&story(), &["too slow".to_owned()], Some("use tabs"));
        for part in [
            "## Story a: Add {{criteria}}\n",
            "- one\n- two\n",
            "### Attempt 1 was rejected\n\ntoo slow",
            "## Codebase Patterns\n\nuse tabs",
        ] {
            assert!(prompt.contains(part), "{part} in {prompt}");
        }
    }

    #[test]
    fn every_placeholder_of_a_template_is_filled() {
        let commit = Commit::new(&"a".repeat(40)).expect("hexadecimal");
        let mut plain = story();
        plain.title = "T".to_owned();
        for prompt in [
            implementor_prompt(&plain, &[], None),
            judge_prompt(&plain, &commit, &commit, "d", "c"),
            recheck_prompt(&plain, &commit, "c"),
        ] {
            assert!(!prompt.contains("{{"), "{prompt}");
        }
    }
}
