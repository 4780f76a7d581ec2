//! `loopwright report ID`: a whole loop on one page, for somebody who was away and for a pull
//! request.

use std::fmt::Write as _;

use views::{Caught, LoopReport, StoryView, loop_report};

use super::lookup::{find_or_newest, load, open};
use super::story::{bounded, cell};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::words::{capital, duration};

/// Lines of a list that fit on a page; `--json` has all of them.
const LINES_MAX: usize = 20;

pub(super) fn run(id: Option<&str>, markdown: bool, output: &mut Output) -> Result<Exit, Failure> {
    output.command("report");
    let journal = open(&home()?)?;
    let loop_id = find_or_newest(&journal, id)?;
    let loaded = load(&journal, &loop_id)?;
    let Some(report) = loop_report(&loaded.records) else {
        return Err(Failure::bad_input(format!(
            "loop {loop_id} cannot be replayed"
        )));
    };
    output.data(&if markdown {
        as_markdown(&report)
    } else {
        as_text(&report)
    })?;
    output.result(|| &report)?;
    output.next(NextAction::new(
        format!("loopwright story {loop_id} STORY"),
        "see one story with all its evidence",
    ));
    Ok(Exit::Done)
}

fn as_text(report: &LoopReport) -> String {
    let view = &report.view;
    let mut out = format!("loop {}: {}\n", view.loop_id, headline(report));
    // Writing to a String cannot fail.
    if view.landed {
        let _ = writeln!(out, "branch {} at {}", view.branch, &view.head_sha[..12]);
    }
    out.push_str("\nstories\n");
    let width = |of: fn(&StoryView) -> usize| view.stories.iter().map(of).max().unwrap_or(0);
    let (ids, titles) = (
        width(|story| story.id.chars().count()),
        width(|story| story.title.chars().count()).min(48),
    );
    for story in &view.stories {
        let title: String = story.title.chars().take(48).collect();
        let line = format!(
            "  {:<8} {:<ids$}  {title:<titles$}  {}",
            story.status,
            story.id,
            facts_of(story)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for (title, lines) in lists(report) {
        let _ = writeln!(out, "\n{title}");
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

fn as_markdown(report: &LoopReport) -> String {
    let view = &report.view;
    let mut out = format!("## {}\n\n", capital(&headline(report)));
    out.push_str("| story | | attempts | time | commit |\n|---|---|---|---|---|\n");
    for story in &view.stories {
        let _ = writeln!(
            out,
            "| {}: {} | {} | {} | {} | {} |",
            cell(&story.id),
            cell(&story.title),
            story.status,
            story.attempts,
            story.duration_ms.map(duration).unwrap_or_default(),
            story
                .commit_sha
                .as_ref()
                .map(|commit| format!("`{}`", &commit[..12]))
                .unwrap_or_default(),
        );
    }
    for (title, lines) in lists(report) {
        let title = capital(title);
        let _ = write!(out, "\n### {title}\n\n- {}\n", lines.join("\n- "));
    }
    out
}

/// What stands below the stories, where there is anything to tell.
fn lists(report: &LoopReport) -> Vec<(&'static str, Vec<String>)> {
    let to_look_at = bounded(report.to_look_at.iter().cloned(), LINES_MAX);
    let mut lists = vec![
        ("cost", costs(report)),
        ("caught before it landed", catches(report)),
        ("look at", to_look_at),
    ];
    lists.retain(|(_, lines)| !lines.is_empty());
    lists
}

/// `completed in 3m07s: 2 passed, 1 skipped`
fn headline(report: &LoopReport) -> String {
    let view = &report.view;
    let counts: Vec<String> = ["passed", "skipped", "blocked", "running", "pending"]
        .into_iter()
        .filter_map(|status| {
            let number = view
                .stories
                .iter()
                .filter(|story| story.status == status)
                .count();
            (number > 0).then(|| format!("{number} {status}"))
        })
        .collect();
    format!(
        "{} in {}: {}",
        view.status,
        duration(report.duration_ms),
        counts.join(", ")
    )
}

fn facts_of(story: &StoryView) -> String {
    let attempts = crate::words::counted(
        usize::try_from(story.attempts).unwrap_or(usize::MAX),
        "attempt",
        "attempts",
    );
    let commit = story
        .commit_sha
        .as_ref()
        .map(|commit| commit[..12].to_owned());
    let why = (story.status == "skipped" || story.status == "blocked")
        .then(|| story.detail.lines().next().unwrap_or_default().to_owned());
    let time = story.duration_ms.map(duration).unwrap_or_default();
    let parts = [
        (story.attempts > 0).then_some(attempts),
        (!time.is_empty()).then_some(time),
        commit,
        why.filter(|why| !why.is_empty()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What each agent used in each role, and all together.
fn costs(report: &LoopReport) -> Vec<String> {
    let view = &report.view;
    let mut lines = Vec::new();
    if !report.cost.is_empty() {
        let tokens = view.tokens.map(|tokens| format!(", {tokens} tokens"));
        lines.push(format!("{}{}", report.cost, tokens.unwrap_or_default()));
    }
    for used in &view.used_by {
        let runs = crate::words::counted(
            usize::try_from(used.runs).unwrap_or(usize::MAX),
            "run",
            "runs",
        );
        let cost = used
            .cost_usd
            .map_or_else(|| "cost unknown".to_owned(), |usd| format!("${usd:.2}"));
        let tokens = used.tokens.map(|tokens| format!(", {tokens} tokens"));
        lines.push(format!(
            "{} {}: {runs}, {cost}{}",
            used.role,
            used.agent,
            tokens.unwrap_or_default()
        ));
    }
    lines
}

fn catches(report: &LoopReport) -> Vec<String> {
    let line = |caught: &Caught| {
        format!(
            "{}: {} (attempt {}): {}",
            caught.by, caught.story_id, caught.attempt, caught.what
        )
    };
    bounded(report.caught.iter().map(line), LINES_MAX)
}
