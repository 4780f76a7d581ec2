//! `loopwright story ID STORY`: why a story passed or failed, without opening a log.

use std::fmt::Write as _;

use serde_json::json;
use views::{AttemptReport, CriterionReport, StoryReport, story_report};

use super::lookup::{find, load, open};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

pub(super) fn run(
    id: &str,
    story: &str,
    markdown: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("story");
    let journal = open(&home()?)?;
    let loop_id = find(&journal, id)?;
    let loaded = load(&journal, &loop_id)?;
    let Some(report) = story_report(&loaded.records, story) else {
        let ids: Vec<&str> = loaded
            .state
            .stories()
            .iter()
            .map(|story| story.spec.id.as_str())
            .collect();
        let failure = Failure::bad_input(format!("the loop has no story `{story}`"));
        return Err(match prd::nearest(story, ids.iter().copied()) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("it has {}", ids.join(", "))),
        });
    };
    let markdown_text = as_markdown(&report);
    output.data(&if markdown {
        markdown_text.clone()
    } else {
        as_text(&report)
    })?;
    output.result(|| {
        let mut value = json!(report);
        value["markdown"] = json!(markdown_text);
        value
    })?;
    output.next(NextAction::new(
        format!("loopwright logs {loop_id} --story {story}"),
        "see what agents and checks printed",
    ));
    Ok(Exit::Done)
}

/// For a terminal.
fn as_text(report: &StoryReport) -> String {
    let mut out = format!(
        "{}: {}\n{} (flow {})",
        report.id, report.title, report.status, report.flow
    );
    // Writing to a String cannot fail.
    if let Some(commit) = &report.commit_sha {
        let _ = write!(out, ", commit {}", &commit[..12]);
    }
    out.push('\n');
    if !report.reason.is_empty() {
        let _ = writeln!(out, "why: {}", indented(&report.reason, "  ").trim_start());
    }
    out.push_str("\ncriteria\n");
    report
        .criteria
        .iter()
        .for_each(|criterion| text_of_criterion(criterion, &mut out));
    report
        .attempts
        .iter()
        .for_each(|attempt| text_of_attempt(attempt, &mut out));
    out
}

fn text_of_criterion(criterion: &CriterionReport, out: &mut String) {
    let mark = match criterion.met {
        Some(true) => "met    ",
        Some(false) => "NOT MET",
        None => "open   ",
    };
    let _ = writeln!(out, "  {mark} {}", criterion.criterion);
    if !criterion.tests.is_empty() {
        let _ = writeln!(out, "          tests: {}", criterion.tests.join(", "));
    }
    if let Some(why) = &criterion.untestable {
        let _ = writeln!(out, "          no machine can test it: {why}");
    }
    if !criterion.evidence.is_empty() {
        let _ = writeln!(out, "          judge: {}", criterion.evidence);
    }
}

fn text_of_attempt(attempt: &AttemptReport, out: &mut String) {
    let what = if attempt.recheck {
        "second look at the branch"
    } else {
        "attempt"
    };
    let ended = if attempt.ended.is_empty() {
        "under way"
    } else {
        attempt.ended
    };
    let _ = write!(out, "\n{what} {}: {ended}", attempt.number);
    if !attempt.implementor.is_empty() {
        let _ = write!(out, ", by {}", attempt.implementor);
    }
    let _ = write!(out, ", base {}", &attempt.base_sha[..12]);
    if let Some(candidate) = &attempt.candidate_sha {
        let _ = write!(out, ", candidate {}", &candidate[..12]);
    }
    out.push('\n');
    for (title, lines) in [("tests", &attempt.tests), ("to know", &attempt.notes)] {
        for line in lines {
            let _ = writeln!(out, "  {title}: {}", indented(line, "    ").trim_start());
        }
    }
    if !attempt.checks.is_empty() {
        let _ = writeln!(out, "  checks:\n{}", indented(&attempt.checks, "    "));
    }
    if let Some(proof) = &attempt.proof {
        text_of_proof(proof, out);
    }
    if let Some(review) = &attempt.review {
        let _ = writeln!(
            out,
            "  reviewer: {}",
            indented(&review.summary, "    ").trim_start()
        );
        for finding in &review.findings {
            let _ = writeln!(out, "    - {}", indented(finding, "      ").trim_start());
        }
    }
    if let Some(ruling) = &attempt.ruling {
        let _ = writeln!(out, "  arbiter: {ruling}");
    }
    if let Some(verdict) = &attempt.verdict {
        let word = if verdict.pass { "PASS" } else { "FAIL" };
        let by = if attempt.judge.is_empty() {
            String::new()
        } else {
            format!(" ({})", attempt.judge)
        };
        let _ = writeln!(
            out,
            "  judge{by}: {word}: {}",
            indented(&verdict.reason, "    ").trim_start()
        );
    }
    if attempt.ended == "rejected" {
        let title = if attempt.recheck {
            "why"
        } else {
            "the next attempt is told"
        };
        let _ = writeln!(out, "  {title}:\n{}", indented(&attempt.feedback, "    "));
    }
}

fn text_of_proof(proof: &kernel::Proof, out: &mut String) {
    out.push_str("  prover:\n");
    for (title, lines) in proof_lists(proof) {
        for line in lines {
            let words = indented(line, "      ");
            let _ = writeln!(out, "    {title}: {}", words.trim_start());
        }
    }
}

/// What a prover says, under the words that people read.
fn proof_lists(proof: &kernel::Proof) -> [(&'static str, &[String]); 4] {
    [
        ("checked", &proof.checked),
        ("found", &proof.found),
        ("mended", &proof.mended),
        ("see it", &proof.see),
    ]
}

fn indented(text: &str, margin: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| format!("{margin}{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// For the body of a pull request.
fn as_markdown(report: &StoryReport) -> String {
    let mut out = format!(
        "## {}: {}\n\n**{}**",
        report.id, report.title, report.status
    );
    if let Some(commit) = &report.commit_sha {
        let _ = write!(out, " at `{}`", &commit[..12]);
    }
    out.push_str("\n\n| criterion | tests | judge |\n|---|---|---|\n");
    for criterion in &report.criteria {
        let tests = match &criterion.untestable {
            Some(why) => format!("no machine can test it: {why}"),
            None => criterion
                .tests
                .iter()
                .map(|test| format!("`{test}`"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let word = match criterion.met {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "",
        };
        let judge = [word, &criterion.evidence]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            cell(&criterion.criterion),
            cell(&tests),
            cell(&judge.join(": "))
        );
    }
    for attempt in report
        .attempts
        .iter()
        .filter(|attempt| !attempt.checks.is_empty() || attempt.proof.is_some())
    {
        let _ = write!(
            out,
            "\n<details><summary>Attempt {}: {}</summary>\n",
            attempt.number, attempt.ended,
        );
        if !attempt.checks.is_empty() {
            let checks = attempt.checks.trim_end().replace("```", "'''");
            let _ = write!(out, "\n```text\n{checks}\n```\n");
        }
        if let Some(proof) = &attempt.proof {
            out.push_str("\nProof of work:\n\n");
            for (title, lines) in proof_lists(proof) {
                for line in lines {
                    let _ = writeln!(out, "- {title}: {}", cell(line));
                }
            }
        }
        if let Some(verdict) = &attempt.verdict {
            let word = if verdict.pass { "PASS" } else { "FAIL" };
            let _ = writeln!(out, "\nJudge: {word}: {}", verdict.reason);
        }
        out.push_str("\n</details>\n");
    }
    out
}

/// Text that may stand in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
