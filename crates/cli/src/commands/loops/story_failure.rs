//! The page of a story that did not pass: what failed comes first, and nothing else is in the way.

use std::fmt::Write as _;

use views::{AttemptReport, CriterionReport, StoryReport};

use super::story_text::{
    cost_words, heading, indented, text_of_criterion, text_of_questions, text_of_review, title_of,
};

/// The page; nothing where nothing failed.
pub(super) fn failure_page(report: &StoryReport) -> Option<String> {
    let cause = report.root_cause.as_ref()?;
    let mut out = format!("failed: {cause}\n\n{}", heading(report));
    let failed: Vec<&CriterionReport> = report.criteria.iter().filter(|each| each.failed).collect();
    if !failed.is_empty() {
        out.push_str("\ncriteria that failed\n");
    }
    for criterion in failed {
        text_of_criterion("NOT MET", criterion, &mut out);
    }
    out.push_str(&text_of_questions(report));
    out.push('\n');
    // Writing to a String cannot fail.
    for attempt in &report.attempts {
        let ended = match (attempt.ended, attempt.cause.as_str()) {
            ("", _) => "under way".to_owned(),
            (ended, "") => ended.to_owned(),
            (ended, cause) => format!("{ended}: {cause}"),
        };
        let _ = writeln!(out, "{}: {ended}", title_of(attempt));
        if report.rejected() == Some(attempt) {
            out.push_str(&details(attempt));
        }
    }
    if let Some(cost) = cost_words(report) {
        let _ = write!(out, "\ncost: {cost}\n");
    }
    let _ = write!(
        out,
        "\n`loopwright story {} {} --all` shows what went well too\n",
        report.loop_id, report.id
    );
    Some(out)
}

/// What went wrong in the attempt that decided, in the words of whoever saw it.
fn details(attempt: &AttemptReport) -> String {
    let mut out = String::new();
    if let Some(review) = &attempt.review {
        text_of_review(review, &mut out);
    }
    let verdict = attempt.verdict.as_ref().filter(|verdict| !verdict.pass);
    let Some(verdict) = verdict else {
        if attempt.feedback.trim() != attempt.cause {
            let _ = writeln!(out, "{}", indented(&attempt.feedback, "  "));
        }
        return out;
    };
    let reason = indented(&verdict.reason, "    ");
    let _ = writeln!(out, "  judge: FAIL: {}", reason.trim_start());
    for guidance in &verdict.guidance {
        let _ = writeln!(out, "    do: {}", indented(guidance, "      ").trim_start());
    }
    out
}
