//! `loopwright story ID STORY`: why a story passed or failed, without opening a log.

use std::fmt::Write as _;

use serde_json::json;
use views::{AttemptReport, ObligationReport, StoryReport, story_report};

use super::lookup::{find, load, open};
use super::story_failure::failure_page;
use super::story_text::{
    answer_words, asked_by, cost_words, heading, indented, text_of_criterion, text_of_questions,
    text_of_review, title_of,
};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::words::capital;

/// Obligations and flags that are shown to people; `--json` has all of them.
const SHOWN_MAX: usize = 40;

/// How a story is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// What failed, where something did.
    Failure,
    /// Everything.
    All,
    Markdown,
}

pub(super) fn run(
    id: &str,
    story: &str,
    shown: Shown,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("story");
    let journal = open(&home()?)?;
    let loop_id = find(&journal, id)?;
    let loaded = load(&journal, &loop_id)?;
    let report =
        story_report(&loaded.records, story).ok_or_else(|| unknown_story(&loaded.state, story))?;
    let markdown_text = as_markdown(&report);
    output.data(&match shown {
        Shown::Failure => failure_page(&report).unwrap_or_else(|| as_text(&report)),
        Shown::All => as_text(&report),
        Shown::Markdown => markdown_text.clone(),
    })?;
    output.result(|| {
        let mut value = views::public_form(json!(report));
        value["markdown"] = json!(markdown_text);
        value
    })?;
    output.next(NextAction::new(
        format!("loopwright logs {loop_id} --story {story}"),
        "see what agents and checks printed",
    ));
    Ok(Exit::Done)
}

/// A story that the loop does not have, with what was probably meant.
pub(super) fn unknown_story(state: &kernel::State, story: &str) -> Failure {
    let ids: Vec<&str> = state
        .stories()
        .iter()
        .map(|story| story.spec.id.as_str())
        .collect();
    let failure = Failure::bad_input(format!("the loop has no story `{story}`"));
    match prd::nearest(story, ids.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("it has {}", ids.join(", "))),
    }
}

/// For a terminal, everything.
fn as_text(report: &StoryReport) -> String {
    let mut out = match &report.root_cause {
        Some(cause) => format!("failed: {cause}\n\n"),
        None => String::new(),
    };
    out.push_str(&heading(report));
    if !report.reason.is_empty() {
        let title = if report.status == "running" {
            "now"
        } else {
            "why"
        };
        let reason = indented(&report.reason, "  ");
        let _ = writeln!(out, "{title}: {}", reason.trim_start());
    }
    out.push_str("\ncriteria\n");
    for criterion in &report.criteria {
        let mark = match criterion.standing {
            "not met" => "NOT MET",
            standing => standing,
        };
        text_of_criterion(mark, criterion, &mut out);
    }
    text_of_facts(report, &mut out);
    out.push_str(&text_of_questions(report));
    report
        .attempts
        .iter()
        .for_each(|attempt| text_of_attempt(attempt, &mut out));
    if let Some(cost) = cost_words(report) {
        let _ = write!(out, "\ncost: {cost}\n");
    }
    out
}

/// What only a judge can settle, and what it said of it.
fn text_of_facts(report: &StoryReport, out: &mut String) {
    for (title, lines) in [
        ("obligations", obligation_lines(&report.obligations)),
        ("flags", flag_lines(&report.flags)),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{title}");
        }
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    if let Some(mutants) = report.mutants {
        let _ = writeln!(out, "\nstrength of proof: {}", mutants.words());
    }
}

fn obligation_lines(obligations: &[ObligationReport]) -> Vec<String> {
    let line = |each: &ObligationReport| {
        let answer = match &each.answer {
            None => "not answered".to_owned(),
            Some(answer) if answer.why.is_empty() => format!("asked for by: {}", answer.criterion),
            Some(answer) => format!("asked for by: {} ({})", answer.criterion, answer.why),
        };
        one_line(&format!("{} {}; {answer}", each.id, each.words))
    };
    bounded(obligations.iter().map(line), SHOWN_MAX)
}

fn flag_lines(flags: &[kernel::Flag]) -> Vec<String> {
    let line = |flag: &kernel::Flag| {
        let words = flag.kind.words();
        one_line(&format!("{words}, `{}`: {}", flag.place, flag.text))
    };
    bounded(flags.iter().map(line), SHOWN_MAX)
}

/// The first lines, and how many more there are.
pub(super) fn bounded(lines: impl ExactSizeIterator<Item = String>, max: usize) -> Vec<String> {
    let n_more = lines.len().saturating_sub(max);
    let mut shown: Vec<String> = lines.take(max).collect();
    if n_more > 0 {
        shown.push(format!("… and {n_more} more"));
    }
    shown
}

fn text_of_attempt(attempt: &AttemptReport, out: &mut String) {
    let ended = if attempt.ended.is_empty() {
        "under way"
    } else {
        attempt.ended
    };
    let _ = write!(out, "\n{}: {ended}", title_of(attempt));
    if !attempt.implementor.is_empty() {
        let _ = write!(out, ", by {}", attempt.implementor);
    }
    let _ = write!(out, ", base {}", &attempt.base_sha[..12]);
    let made = attempt
        .judged_sha
        .as_ref()
        .or(attempt.candidate_sha.as_ref());
    if let Some(made) = made {
        let _ = write!(out, ", candidate {}", &made[..12]);
    }
    out.push('\n');
    for (title, lines) in [
        ("tests", &attempt.tests),
        ("to know", &attempt.notes),
        ("landing", &attempt.landing),
    ] {
        for line in lines {
            let _ = writeln!(out, "  {title}: {}", indented(line, "    ").trim_start());
        }
    }
    for (title, checks) in measurements(attempt) {
        let _ = writeln!(out, "  {title}:\n{}", indented(checks, "    "));
    }
    if let Some(proof) = &attempt.proof {
        text_of_proof(proof, out);
    }
    if let Some(review) = &attempt.review {
        text_of_review(review, out);
    }
    if let Some(ruling) = &attempt.ruling {
        let _ = writeln!(out, "  arbiter: {ruling}");
    }
    if let Some(verdict) = &attempt.verdict {
        let by = if attempt.judge.is_empty() {
            String::new()
        } else {
            format!(" ({})", attempt.judge)
        };
        let _ = writeln!(
            out,
            "  judge{by}: {}: {}",
            verdict_words(attempt, verdict),
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

/// What was measured of an attempt, each under the commits that it is about where there are several.
fn measurements(attempt: &AttemptReport) -> Vec<(String, &str)> {
    let title = |what: &str, commit: &str, base: &str| {
        format!("{what} of {} on {}", &commit[..12], &base[..12])
    };
    let mut all: Vec<(String, &str)> = Vec::new();
    let Some(restacked) = &attempt.restacked else {
        all.push(("checks".to_owned(), &attempt.checks));
        all.retain(|(_, checks)| !checks.is_empty());
        return all;
    };
    let made = attempt.judged_sha.as_ref();
    let made = made.unwrap_or(&restacked.commit_sha);
    all.push((title("checks", made, &attempt.base_sha), &attempt.checks));
    let (commit, base) = (&restacked.commit_sha, &restacked.base_sha);
    all.push((title("landing checks", commit, base), &restacked.checks));
    all.retain(|(_, checks)| !checks.is_empty());
    all
}

/// PASS or FAIL, and of which commit where there are several.
fn verdict_words(attempt: &AttemptReport, verdict: &kernel::Verdict) -> String {
    let word = if verdict.pass { "PASS" } else { "FAIL" };
    match &attempt.restacked {
        Some(_) => format!("{word} of {}", &verdict.commit.as_str()[..12]),
        None => word.to_owned(),
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

/// For the body of a pull request.
fn as_markdown(report: &StoryReport) -> String {
    let mut out = format!(
        "## {}: {}\n\n**{}**",
        report.id, report.title, report.status
    );
    if let Some(commit) = &report.commit_sha {
        let _ = write!(out, " at `{}`", &commit[..12]);
    }
    out.push_str("\n\n");
    if let Some(cause) = &report.root_cause {
        let _ = write!(out, "Failed: {cause}\n\n");
    }
    markdown_of_criteria(report, &mut out);
    markdown_of_facts(report, &mut out);
    markdown_of_questions(report, &mut out);
    markdown_of_attempts(report, &mut out);
    if let Some(cost) = cost_words(report) {
        let _ = write!(out, "\nCost: {cost}.\n");
    }
    out
}

fn markdown_of_facts(report: &StoryReport, out: &mut String) {
    for (title, lines) in [
        ("Obligations", obligation_lines(&report.obligations)),
        ("Flags", flag_lines(&report.flags)),
    ] {
        if !lines.is_empty() {
            let _ = write!(out, "\n### {title}\n\n- {}\n", lines.join("\n- "));
        }
    }
    if let Some(mutants) = report.mutants {
        let _ = writeln!(out, "\nStrength of proof: {}.", mutants.words());
    }
}

fn markdown_of_questions(report: &StoryReport, out: &mut String) {
    if !report.questions.is_empty() {
        out.push_str("\n### Questions\n\n");
    }
    for asked in &report.questions {
        let (who, text) = (asked_by(asked), cell(&asked.text));
        let _ = writeln!(out, "- {who}: {text} **{}**", cell(&answer_words(asked)));
    }
}

fn markdown_of_criteria(report: &StoryReport, out: &mut String) {
    out.push_str("| criterion | tests | judge |\n|---|---|---|\n");
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
        let word = match criterion.standing {
            "not met" => "**not met**",
            "open" => "",
            standing => standing,
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
}

fn markdown_of_attempts(report: &StoryReport, out: &mut String) {
    for attempt in report.attempts.iter().filter(|attempt| {
        !measurements(attempt).is_empty() || attempt.proof.is_some() || attempt.review.is_some()
    }) {
        let _ = write!(
            out,
            "\n<details><summary>{}: {}</summary>\n",
            capital(&title_of(attempt)),
            attempt.ended,
        );
        for (title, checks) in measurements(attempt) {
            if attempt.restacked.is_some() {
                let _ = writeln!(out, "\n{}:", capital(&title));
            }
            let checks = checks.trim_end().replace("```", "'''");
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
        if let Some(review) = &attempt.review {
            let _ = writeln!(out, "\nReviewer: {}", cell(&review.summary));
            for (at, finding) in review.findings.iter().enumerate() {
                let gap = if at == 0 { "\n" } else { "" };
                let _ = writeln!(out, "{gap}- {}", cell(finding));
            }
        }
        if let Some(verdict) = &attempt.verdict {
            let word = verdict_words(attempt, verdict);
            let _ = writeln!(out, "\nJudge: {word}: {}", verdict.reason);
        }
        out.push_str("\n</details>\n");
    }
}

/// Text that may stand in a table.
pub(super) fn cell(text: &str) -> String {
    one_line(&text.replace('|', "\\|"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use kernel::{Flag, FlagKind, Mutants, ObligationKind};
    use views::{AnswerReport, CriterionReport};

    use super::*;

    fn report() -> StoryReport {
        let owed = |id: &str, subject: &str, answer| ObligationReport {
            id: id.to_owned(),
            kind: ObligationKind::OldTestRemoved,
            subject: subject.to_owned(),
            answer,
            words: format!("the older test `{subject}` is gone"),
        };
        let answer = AnswerReport {
            criterion: "it works".to_owned(),
            why: "it tested the old way".to_owned(),
        };
        let criterion = |criterion: &str, standing| CriterionReport {
            criterion: criterion.to_owned(),
            tests: Vec::new(),
            untestable: None,
            standing,
            failed: false,
            met: None,
            evidence: String::new(),
        };
        StoryReport {
            loop_id: "L".to_owned(),
            id: "a".to_owned(),
            title: "A".to_owned(),
            flow: "quartet",
            status: "passed",
            phase: "done",
            root_cause: None,
            reason: String::new(),
            commit_sha: None,
            criteria: vec![
                criterion("it works", "proven"),
                criterion("it is kind", "judged"),
            ],
            flags: vec![Flag {
                kind: FlagKind::Random,
                place: "src/a.py:3".to_owned(),
                text: "rolls\ndice".to_owned(),
            }],
            obligations: vec![owed("O1", "old", Some(answer)), owed("O2", "other", None)],
            mutants: Some(Mutants {
                tried: 3,
                noticed: 2,
            }),
            attempts: Vec::new(),
            questions: Vec::new(),
            tokens: None,
            cost_usd: None,
            runs_of_unknown_cost: 0,
        }
    }

    #[test]
    fn obligations_and_flags_are_shown_under_their_own_headings() {
        insta::assert_snapshot!(as_text(&report()), @r"
        a: A
        passed (flow quartet)

        criteria
          proven  it works
          judged  it is kind

        obligations
          O1 the older test `old` is gone; asked for by: it works (it tested the old way)
          O2 the older test `other` is gone; not answered

        flags
          depends on chance, `src/a.py:3`: rolls dice

        strength of proof: 2 of 3 small faults in the changed lines were noticed by the story's tests
        ");
        insta::assert_snapshot!(as_markdown(&report()), @r"
        ## a: A

        **passed**

        | criterion | tests | judge |
        |---|---|---|
        | it works |  | proven |
        | it is kind |  | judged |

        ### Obligations

        - O1 the older test `old` is gone; asked for by: it works (it tested the old way)
        - O2 the older test `other` is gone; not answered

        ### Flags

        - depends on chance, `src/a.py:3`: rolls dice

        Strength of proof: 2 of 3 small faults in the changed lines were noticed by the story's tests.
        ");
    }

    #[test]
    fn long_lists_end_with_a_count() {
        let mut long = report();
        long.flags = vec![long.flags[0].clone(); 100];
        for text in [as_text(&long), as_markdown(&long)] {
            assert_eq!(text.matches("rolls dice").count(), SHOWN_MAX);
            assert!(text.contains("… and 60 more"), "{text}");
        }
    }
}
