//! Makes a task graph of a folder of tickets. Pure: what is there of the old graph besides its nodes
//! and edges stays as it was, byte by byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use prd::{Extra, Prd, Story};

use crate::board::{Board, Status, Task};

/// What a refresh made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refreshed {
    /// The whole new text of the graph.
    pub text: String,
    /// How many tasks it has.
    pub n_tasks: usize,
}

/// The keys of a ticket that a node has in another form.
const NOT_COPIED: [&str; 8] = [
    "blocks",
    "depends_on",
    "dependencies",
    "status",
    "path",
    "claimed_by",
    "claimed_at",
    "meta",
];

/// Writes the graph of a folder of tickets. `paths` has each ticket's file, below the top of the work
/// tree.
pub fn graph_text(
    old: Option<&str>,
    tickets: &Prd,
    board: &Board,
    graph: &Path,
    paths: &BTreeMap<String, String>,
) -> Refreshed {
    let mut nodes = String::from("nodes:");
    let mut edges = String::from("edges:");
    nodes.push_str(if tickets.stories.is_empty() {
        " []\n"
    } else {
        "\n"
    });
    let mut n_edges = 0;
    for story in &tickets.stories {
        let task = board.find(story.id.as_str());
        let path = paths.get(story.id.as_str());
        node(&mut nodes, story, &status_word(task, graph), path);
        let known = story.depends_on.iter();
        for on in known.filter(|on| board.find(on.as_str()).is_some()) {
            if n_edges == 0 {
                edges.push('\n');
            }
            n_edges += 1;
            // Writing to a String cannot fail.
            let _ = writeln!(
                edges,
                "  - from: {}\n    to: {}",
                scalar(on.as_str()),
                scalar(story.id.as_str())
            );
        }
    }
    if n_edges == 0 {
        edges.push_str(" []\n");
    }
    Refreshed {
        text: put(old, &nodes, &edges),
        n_tasks: tickets.stories.len(),
    }
}

/// Puts nodes and edges into the old graph, in the place of its own.
fn put(old: Option<&str>, nodes: &str, edges: &str) -> String {
    let mut out = String::new();
    let (mut has_nodes, mut has_edges) = (false, false);
    for block in blocks(old.unwrap_or("version: \"1.0\"\n")) {
        let key = block.split(':').next().unwrap_or_default();
        match key.trim_matches(['"', '\'']) {
            "nodes" => {
                has_nodes = true;
                out.push_str(nodes);
            }
            "edges" => {
                has_edges = true;
                out.push_str(edges);
            }
            _ => out.push_str(block),
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    if !has_nodes {
        out.push_str(nodes);
    }
    if !has_edges {
        out.push_str(edges);
    }
    out
}

/// The top-level entries of a document in YAML's block style, each with all its lines.
fn blocks(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begins = line.starts_with(|first: char| {
            first.is_ascii_alphanumeric() || matches!(first, '_' | '"' | '\'')
        });
        if begins && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    let pairs = starts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    pairs.filter(|block| !block.is_empty()).collect()
}

/// The word for where a task stands. What a claim wrote into this very graph stays as it is written, so
/// that whoever gives the task back finds it.
fn status_word(task: Option<&Task>, graph: &Path) -> String {
    let Some(task) = task else {
        return "pending".to_owned();
    };
    let claimed = task.word.as_ref().filter(|word| word.file == graph);
    let word = match &task.status {
        Status::Complete => "complete",
        Status::InProgress(_) | Status::Failed(_) => {
            claimed.map_or("ready", |word| word.claimed.as_str())
        }
        Status::Ready => "ready",
        Status::SetAside(state) => state.word(),
        Status::Blocked(_) => "pending",
    };
    word.to_owned()
}

fn node(out: &mut String, story: &Story, status: &str, path: Option<&String>) {
    let mut line = |key: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    {key}: {value}");
    };
    line("id", &scalar(story.id.as_str()));
    line("title", &scalar(&story.title));
    if !story.description.trim().is_empty() {
        line("description", &text(&story.description));
    }
    let criteria: Vec<Extra> = story
        .criteria
        .iter()
        .filter(|one| one.text != story.title && one.text != story.description)
        .map(|one| Extra::Text(one.text.clone()))
        .collect();
    if !criteria.is_empty() {
        line("acceptance_criteria", &value(&Extra::List(criteria)));
    }
    if let Some(priority) = story.priority {
        line("priority", &priority.to_string());
    }
    let copied = story.extra.iter();
    let copied = copied.filter(|(key, _)| !NOT_COPIED.contains(&key.as_str()));
    for (key, extra) in copied {
        line(&scalar(key), &value(extra));
    }
    if let Some(tool) = &story.tool {
        line("tool", &scalar(tool));
    }
    line("status", status);
    if let Some(path) = path {
        line("path", &scalar(path));
    }
    // The first line of each node begins the item of the list.
    let first = format!("    id: {}\n", scalar(story.id.as_str()));
    if let Some(at) = out.rfind(&first) {
        out.replace_range(at..at + 4, "  - ");
    }
}

/// A value in one line; YAML reads JSON.
fn value(extra: &Extra) -> String {
    match extra {
        Extra::Null => "null".to_owned(),
        Extra::Bool(flag) => flag.to_string(),
        Extra::Number(number) => number.clone(),
        Extra::Text(text) => scalar(text),
        Extra::List(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Extra::Map(entries) => {
            let pair =
                |(key, extra): &(String, Extra)| format!("{}: {}", quoted(key), value(extra));
            let entries: Vec<String> = entries.iter().map(pair).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A longer text: as a block where YAML can hold it that way unchanged.
fn text(text: &str) -> String {
    let fits = |line: &str| !line.starts_with(char::is_whitespace) || !line.trim().is_empty();
    let is_plain = text.contains('\n')
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with('\n')
        && text.lines().all(fits)
        && !text
            .chars()
            .any(|letter| letter.is_control() && letter != '\n');
    if !is_plain {
        return scalar(text);
    }
    let mut out = String::from("|-");
    for line in text.lines() {
        out.push('\n');
        if !line.is_empty() {
            out.push_str("      ");
            out.push_str(line);
        }
    }
    out
}

fn scalar(text: &str) -> String {
    const WORDS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "y"];
    let mut letters = text.chars();
    let begins_plain = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    let is_plain = begins_plain
        && letters.all(|letter| letter.is_ascii_alphanumeric() || " _-./".contains(letter))
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_lowercase().as_str());
    if is_plain {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
