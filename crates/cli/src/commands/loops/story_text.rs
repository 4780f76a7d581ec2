//! The parts that every page of a story is made of.

use std::fmt::Write as _;

use views::{AskedReport, AttemptReport, CriterionReport, StoryReport};

use crate::words::counted;

/// What is said of a story that a loop has set aside.
pub(super) const NEEDS_REVIEW: &str = "NEEDS HUMAN REVIEW";

/// Which story it is, and where it stands.
pub(super) fn heading(report: &StoryReport) -> String {
    let mut out = format!(
        "{}: {}\n{} (flow {})",
        report.id, report.title, report.status, report.flow
    );
    // Writing to a String cannot fail.
    if let Some(commit) = &report.commit_sha {
        let _ = write!(out, ", commit {}", &commit[..12]);
        let judged = report.attempts.last();
        let judged = judged.and_then(|last| last.verdict.as_ref());
        let judged = judged.map(|verdict| verdict.commit.as_str());
        if let Some(judged) = judged.filter(|judged| judged != commit) {
            let _ = write!(out, ", judged as {}", &judged[..12]);
        }
    }
    // Whoever set it aside in the PRD has seen it.
    if report.status == "skipped" && !report.attempts.is_empty() {
        let _ = write!(out, ", {NEEDS_REVIEW}");
    }
    out.push('\n');
    out
}

/// Which attempt it is, in the words that begin its lines.
pub(super) fn title_of(attempt: &AttemptReport) -> String {
    match attempt.accepted_attempt {
        _ if attempt.recheck => "second look at the branch".to_owned(),
        Some(accepted) => format!("attempt {accepted}, accepted by a person"),
        None => format!("attempt {}", attempt.number),
    }
}

/// What its agents used, as far as they told; nothing before the first of them.
pub(super) fn cost_words(report: &StoryReport) -> Option<String> {
    let known = report.cost_usd.map(|usd| format!("${usd:.2}"));
    let tokens = report.tokens.map(|tokens| format!("{tokens} tokens"));
    let unknown = (report.runs_of_unknown_cost > 0).then(|| {
        let runs = usize::try_from(report.runs_of_unknown_cost).unwrap_or(usize::MAX);
        format!("unknown for {}", counted(runs, "run", "runs"))
    });
    let parts: Vec<String> = [known, tokens, unknown].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// One criterion, and what is known of it.
pub(super) fn text_of_criterion(mark: &str, criterion: &CriterionReport, out: &mut String) {
    let _ = writeln!(out, "  {mark:<7} {}", criterion.criterion);
    if !criterion.tests.is_empty() {
        let _ = writeln!(out, "          tests: {}", criterion.tests.join(", "));
    }
    if let Some(why) = &criterion.untestable {
        let _ = writeln!(out, "          no machine can test it: {why}");
    }
    if !criterion.evidence.is_empty() {
        // An open criterion that was judged is one of work that was set aside.
        let of = if criterion.standing == "open" {
            " of the last attempt"
        } else {
            ""
        };
        let _ = writeln!(out, "          judge{of}: {}", criterion.evidence);
    }
}

/// Every question of the story, with its answer; nothing where nobody asked.
pub(super) fn text_of_questions(report: &StoryReport) -> String {
    let mut out = String::new();
    if !report.questions.is_empty() {
        out.push_str("\nquestions\n");
    }
    for asked in &report.questions {
        let text = indented(&asked.text, "    ");
        let _ = writeln!(out, "  {}: {}", asked_by(asked), text.trim_start());
        let answer = indented(&answer_words(asked), "      ");
        let _ = writeln!(out, "    {}", answer.trim_start());
    }
    out
}

/// Who asked, and in which attempt.
pub(super) fn asked_by(asked: &AskedReport) -> String {
    let who = match (asked.stage, &asked.agent) {
        (Some(stage), Some(agent)) => format!("{stage} by {agent}"),
        (Some(stage), None) => stage.to_owned(),
        (None, _) => "the loop".to_owned(),
    };
    format!("{who} (attempt {})", asked.attempt)
}

/// What became of a question.
pub(super) fn answer_words(asked: &AskedReport) -> String {
    match (&asked.answer, asked.is_open) {
        (Some(answer), _) => format!("answered: {answer}"),
        (None, true) => "not answered yet".to_owned(),
        (None, false) => "never answered".to_owned(),
    }
}

/// What the reviewer said.
pub(super) fn text_of_review(review: &kernel::Review, out: &mut String) {
    let summary = indented(&review.summary, "    ");
    let _ = writeln!(out, "  reviewer: {}", summary.trim_start());
    for finding in &review.findings {
        let _ = writeln!(out, "    - {}", indented(finding, "      ").trim_start());
    }
}

/// A text with a margin before each of its lines.
pub(super) fn indented(text: &str, margin: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| format!("{margin}{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}
