//! `loopwright prd order FILE`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use prd::{GraphFormat, Order, Prd, Story, StoryId};
use serde_json::{Value, json};

use crate::args::{OrderFormat, PrdSource};
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(
    source: &PrdSource,
    format: OrderFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("prd order");
    let Some(input) = super::read_sound(source, output)? else {
        return Ok(Exit::BadInput);
    };
    let Some(prd) = &input.reading.prd else {
        return Ok(Exit::BadInput);
    };
    let order = prd::order(prd);
    let text = match format {
        OrderFormat::Text => list(&order),
        OrderFormat::Dot => prd::graph(prd, GraphFormat::Dot),
        OrderFormat::Mermaid => prd::graph(prd, GraphFormat::Mermaid),
    };
    output.data(&text)?;
    output.result(|| as_json(prd, &order, format, &text))?;
    Ok(Exit::Done)
}

fn list(order: &Order<'_>) -> String {
    let mut out = String::new();
    let width = order
        .runs
        .iter()
        .map(|story| story.id.as_str().chars().count())
        .max()
        .unwrap_or_default();
    for (story, number) in order.runs.iter().zip(1..) {
        let after = if story.depends_on.is_empty() {
            String::new()
        } else {
            format!("  (after {})", ids(story.depends_on.iter()))
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{number:>4}. {:width$}  {}{after}",
            story.id.as_str(),
            title(story)
        );
    }
    if order.runs.is_empty() {
        out += "nothing would run\n";
    }
    for (file, stories) in shared_files(order) {
        let file = file.replace(char::is_control, " ");
        let _ = writeln!(out, "file  {file}  (named by {})", ids(stories.into_iter()));
    }
    for (story, by) in &order.held {
        let _ = writeln!(
            out,
            "held  {}  {}  (waits for {}, which will not pass)",
            story.id,
            title(story),
            ids(by.iter().copied())
        );
    }
    for story in &order.set_aside {
        let _ = writeln!(
            out,
            "{}  {}  {}",
            story.state.word(),
            story.id,
            title(story)
        );
    }
    if !order.passed.is_empty() {
        let _ = writeln!(
            out,
            "passed already: {}",
            ids(order.passed.iter().map(|story| &story.id))
        );
    }
    out
}

/// Files that several stories name, with those stories in the order in which they run: each builds on
/// what the ones before it left there.
fn shared_files<'p>(order: &Order<'p>) -> BTreeMap<&'p str, Vec<&'p StoryId>> {
    let mut named: BTreeMap<&str, Vec<&StoryId>> = BTreeMap::new();
    for story in &order.runs {
        for file in &story.files {
            let by = named.entry(file.as_str()).or_default();
            if by.last() != Some(&&story.id) {
                by.push(&story.id);
            }
        }
    }
    named.retain(|_, by| by.len() > 1);
    named
}

fn title(story: &Story) -> String {
    const TITLE_CHARS_MAX: usize = 70;
    let line: String = story
        .title
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if line.chars().count() <= TITLE_CHARS_MAX {
        line
    } else {
        line.chars().take(TITLE_CHARS_MAX).chain(['…']).collect()
    }
}

fn ids<'a>(ids: impl Iterator<Item = &'a StoryId>) -> String {
    ids.map(StoryId::as_str).collect::<Vec<_>>().join(", ")
}

fn as_json(prd: &Prd, order: &Order<'_>, format: OrderFormat, text: &str) -> Value {
    let ids = |stories: &[&Story]| {
        stories
            .iter()
            .map(|story| story.id.as_str().into())
            .collect::<Vec<Value>>()
    };
    let held = |(story, by): &(&Story, Vec<&StoryId>)| json!({ "id": story.id.as_str(), "waitsFor": by.iter().map(|id| id.as_str()).collect::<Vec<_>>() });
    let aside = |story: &&Story| json!({ "id": story.id.as_str(), "state": story.state.word() });
    let edges = prd.stories.iter().flat_map(|story| {
        story
            .depends_on
            .iter()
            .map(|on| json!({ "from": on.as_str(), "to": story.id.as_str() }))
    });
    let shared = shared_files(order).into_iter().map(|(file, by)| {
        json!({ "file": file, "stories": by.iter().map(|id| id.as_str()).collect::<Vec<_>>() })
    });
    let mut value = json!({
        "runs": ids(&order.runs),
        "held": order.held.iter().map(held).collect::<Vec<_>>(),
        "setAside": order.set_aside.iter().map(aside).collect::<Vec<_>>(),
        "passed": ids(&order.passed),
        "edges": edges.collect::<Vec<_>>(),
        "sharedFiles": shared.collect::<Vec<_>>(),
    });
    if format != OrderFormat::Text {
        value["graph"] = text.into();
    }
    value
}
