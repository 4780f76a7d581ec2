//! Writes the dependencies in a graph language: Graphviz `dot` or Mermaid.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::story::{Prd, Story, StoryState};

/// A graph language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid, as GitHub shows it.
    Mermaid,
}

/// Writes all stories and what they wait for as a graph.
pub fn graph(prd: &Prd, format: GraphFormat) -> String {
    // Nodes are numbered, because a story's id may hold characters that neither language allows.
    let number_of: HashMap<&str, usize> = prd
        .stories
        .iter()
        .zip(1..)
        .map(|(story, number)| (story.id.as_str(), number))
        .collect();
    let mut out = String::from(match format {
        GraphFormat::Dot => "digraph prd {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n",
        GraphFormat::Mermaid => "graph LR\n",
    });
    for (story, number) in prd.stories.iter().zip(1..) {
        // Writing to a String cannot fail.
        let _ = match format {
            GraphFormat::Dot => {
                writeln!(
                    out,
                    "  s{number} [label=\"{}\"{}];",
                    dot_label(story),
                    dot_style(story.state)
                )
            }
            GraphFormat::Mermaid => writeln!(out, "  s{number}[\"{}\"]", mermaid_label(story)),
        };
    }
    for (story, number) in prd.stories.iter().zip(1..) {
        for on in story
            .depends_on
            .iter()
            .filter_map(|on| number_of.get(on.as_str()))
        {
            let _ = match format {
                GraphFormat::Dot => writeln!(out, "  s{on} -> s{number};"),
                GraphFormat::Mermaid => writeln!(out, "  s{on} --> s{number}"),
            };
        }
    }
    if format == GraphFormat::Dot {
        out.push_str("}\n");
    }
    out
}

fn label(story: &Story) -> String {
    const TITLE_CHARS_MAX: usize = 50;
    let mut title: String = story
        .title
        .chars()
        .take(TITLE_CHARS_MAX)
        .map(crate::diagnostic::visible)
        .collect();
    if story.title.chars().nth(TITLE_CHARS_MAX).is_some() {
        title.push('…');
    }
    let state = if story.state == StoryState::Open {
        String::new()
    } else {
        format!(" [{}]", story.state.word())
    };
    format!("{}: {title}{state}", story.id)
}

fn dot_label(story: &Story) -> String {
    // Line breaks and other control characters are already replaced in the label.
    label(story).replace('\\', "\\\\").replace('"', "\\\"")
}

fn dot_style(state: StoryState) -> &'static str {
    match state {
        // Colours only support the label, which names the state too.
        StoryState::Open => "",
        StoryState::Passed => ", color=gray, fontcolor=gray",
        StoryState::Skipped | StoryState::WontFix => ", style=\"rounded,dashed\"",
        StoryState::Blocked | StoryState::Stuck | StoryState::Failed => ", color=red",
    }
}

/// Escapes a label for Mermaid, which reads `#…;` as an entity and has no backslash escapes.
fn mermaid_label(story: &Story) -> String {
    let mut out = String::new();
    for letter in label(story).chars() {
        match letter {
            '#' => out.push_str("#35;"),
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            plain => out.push(plain),
        }
    }
    out
}
