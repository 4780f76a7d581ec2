//! Builds our tree from YAML events, with aliases expanded within a budget and every place kept.
//!
//! `saphyr-parser` does the scanning. What a plain word means (a number, a boolean, null) is
//! decided here by the YAML 1.2 core rules. Only the first document of a stream is read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as EventSpan, StrInput, Tag};

use super::{Fault, Findings, Parsed, Piece};
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::node::{Entry, Map, MapStyle, Node, Origin, Value};
use crate::source::Span;

/// Parses the first document. An empty one has no node.
pub(crate) fn parse<'s>(piece: Piece<'s>, findings: &mut Findings) -> Parsed<'s> {
    let mut builder = Builder {
        piece,
        offsets: Offsets::new(piece.text),
        open: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        root: None,
        findings,
    };
    let mut parser = Parser::new(StrInput::new(piece.text));
    while let Some(event) = parser.next_event() {
        let (event, at) = event.map_err(|error| builder.scan_fault(&error))?;
        match event {
            // Stop here, so that a fault in a later document does not matter.
            Event::DocumentEnd | Event::StreamEnd => break,
            event => builder.take(event, &at)?,
        }
    }
    Ok(builder
        .root
        .filter(|root| !matches!(root.value, Value::Null)))
}

/// A list or map that is still being read.
struct Open<'s> {
    start: usize,
    /// The scanner's number for the anchor, 0 for none.
    anchor: usize,
    /// How many nodes there were before it.
    first_node: usize,
    kind: OpenKind<'s>,
    /// How many levels its children reach below it.
    height: usize,
}

enum OpenKind<'s> {
    List(Vec<Node<'s>>),
    Map {
        map: Map<'s>,
        key: Option<(Cow<'s, str>, Span)>,
    },
}

/// A finished value that an alias may name, with its number of nodes and its depth. Both are known
/// before the alias is expanded, so an expansion over the limit is never made.
struct Anchored<'s> {
    node: Node<'s>,
    nodes: usize,
    height: usize,
}

struct Builder<'s, 'f> {
    piece: Piece<'s>,
    offsets: Offsets,
    open: Vec<Open<'s>>,
    anchors: HashMap<usize, Anchored<'s>>,
    nodes: usize,
    root: Option<Node<'s>>,
    findings: &'f mut Findings,
}

impl<'s> Builder<'s, '_> {
    fn bytes(&self, at: &EventSpan) -> (usize, usize) {
        (
            self.offsets.byte(self.piece.text, at.start.index()),
            self.offsets.byte(self.piece.text, at.end.index()),
        )
    }

    fn span(&self, at: &EventSpan) -> Span {
        let (start, end) = self.bytes(at);
        self.piece.span(start, end.max(start))
    }

    /// The span of a scalar. The scanner may report the end of a quoted scalar after the comment
    /// that follows it, so the closing quote is looked for here.
    fn scalar_span(&self, at: &EventSpan, style: ScalarStyle) -> Span {
        let (start, end) = self.bytes(at);
        let length = match style {
            ScalarStyle::DoubleQuoted => quoted_length(&self.piece.text[start..end], b'"'),
            ScalarStyle::SingleQuoted => quoted_length(&self.piece.text[start..end], b'\''),
            ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded => None,
        };
        self.piece.span(
            start,
            length.map_or(end.max(start), |length| start + length),
        )
    }

    fn scan_fault(&self, error: &saphyr_parser::ScanError) -> Fault {
        let start = self.offsets.byte(self.piece.text, error.marker().index());
        let width = self.piece.text[start..]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        let at = self.piece.span(start, start + width);
        // The scanner has a depth limit of its own, which it reports only by this text.
        if error.info() == "recursion limit exceeded" {
            return Fault::TooDeep { at };
        }
        let (at, help) = match self.tab_near(start) {
            Some(tab) => (
                tab,
                Some("YAML indents with spaces; this line begins with a tab".to_owned()),
            ),
            None => (at, None),
        };
        Fault::Syntax {
            message: error.info().to_owned(),
            at,
            help,
        }
    }

    /// A tab that indents the line of a fault or one of the next two. It is the likeliest cause,
    /// and people cannot see it.
    fn tab_near(&self, fault: usize) -> Option<Span> {
        let mut at = self.piece.text[..fault]
            .rfind('\n')
            .map_or(0, |found| found + 1);
        for line in self.piece.text[at..].split_inclusive('\n').take(3) {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            if line[blanks..].starts_with('\t') {
                return Some(self.piece.span(at + blanks, at + blanks + 1));
            }
            at += line.len();
        }
        None
    }

    fn take(&mut self, event: Event<'s>, at: &EventSpan) -> Result<(), Fault> {
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::SequenceStart(anchor, _) => self.open(anchor, at, OpenKind::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                let map = Map {
                    entries: Vec::new(),
                    style: self.map_style(at),
                };
                self.open(anchor, at, OpenKind::Map { map, key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Scalar(text, style, anchor, tag) => {
                let first_node = self.nodes;
                self.count(at)?;
                let node = Node::own(
                    scalar(text, style, tag.as_deref()),
                    self.scalar_span(at, style),
                );
                self.place(node, anchor, first_node, 0)
            }
            Event::Alias(anchor) => self.alias(anchor, at),
        }
    }

    /// The style of a map that starts here. A map inside a flow list without a brace of its own is
    /// a lone pair, `[id: a]`.
    fn map_style(&self, at: &EventSpan) -> MapStyle {
        let (start, end) = self.bytes(at);
        if self.piece.text[start..end].ends_with('{') {
            return MapStyle::YamlFlow;
        }
        let in_flow = self
            .open
            .last()
            .is_some_and(|open| self.piece.text[open.start..].starts_with(['[', '{']));
        if in_flow {
            MapStyle::YamlPair
        } else {
            MapStyle::YamlBlock
        }
    }

    fn count(&mut self, at: &EventSpan) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            Err(Fault::TooManyValues { at: self.span(at) })
        } else {
            Ok(())
        }
    }

    fn open(&mut self, anchor: usize, at: &EventSpan, kind: OpenKind<'s>) -> Result<(), Fault> {
        let first_node = self.nodes;
        self.count(at)?;
        if self.open.len() >= DEPTH_MAX {
            return Err(Fault::TooDeep { at: self.span(at) });
        }
        let (start, _) = self.bytes(at);
        self.open.push(Open {
            start,
            anchor,
            first_node,
            kind,
            height: 0,
        });
        Ok(())
    }

    fn close(&mut self, at: &EventSpan) -> Result<(), Fault> {
        let Some(Open {
            start,
            anchor,
            first_node,
            kind,
            height,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let (_, end) = self.bytes(at);
        // The scanner reports the end of a block collection at the next token. In between there is
        // only whitespace and comments.
        let blank_from = start + self.piece.text[start..end.max(start)].trim_end().len();
        let span = self.piece.span(start, blank_from);
        let value = match kind {
            OpenKind::List(items) => Value::List(items),
            OpenKind::Map { mut map, .. } => {
                merge_shared(&mut map);
                self.findings.look_for_doubles(&map);
                Value::Map(map)
            }
        };
        self.place(Node::own(value, span), anchor, first_node, height + 1)
    }

    fn alias(&mut self, anchor: usize, at: &EventSpan) -> Result<(), Fault> {
        let span = self.span(at);
        // The scanner refuses unknown names, so a missing anchor belongs to a value that is still
        // open: the alias would contain itself.
        let Some(anchored) = self.anchors.get(&anchor) else {
            let message = "this alias names a value that it is itself part of".to_owned();
            return Err(Fault::Syntax {
                message,
                at: span,
                help: None,
            });
        };
        let nodes = anchored.nodes;
        let height = anchored.height;
        if self.nodes + nodes > NODES_MAX {
            return Err(Fault::TooManyValues { at: span });
        }
        if self.open.len() + height > DEPTH_MAX {
            return Err(Fault::TooDeep { at: span });
        }
        let mut node = anchored.node.clone();
        share(&mut node);
        // The bytes of `*name` are the alias's own, so a scalar alias may be replaced by another
        // value. Nothing inside a list or map may.
        node.span = span;
        node.origin = if height == 0 {
            Origin::Own
        } else {
            Origin::Shared
        };
        let first_node = self.nodes;
        self.nodes += nodes;
        self.place(node, 0, first_node, height)
    }

    /// Puts a finished value where it belongs: into the open list or map, as a key, or as the root.
    fn place(
        &mut self,
        node: Node<'s>,
        anchor: usize,
        first_node: usize,
        height: usize,
    ) -> Result<(), Fault> {
        if anchor != 0 {
            let nodes = self.nodes - first_node;
            self.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
                    nodes,
                    height,
                },
            );
            // The copy that is kept for aliases costs as much as the value itself.
            self.nodes += nodes;
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        open.height = open.height.max(height);
        match &mut open.kind {
            OpenKind::List(items) => items.push(node),
            OpenKind::Map { map, key } => match key.take() {
                Some((name, key_span)) => map.entries.push(Entry {
                    key: name,
                    key_span,
                    value: node,
                }),
                // Keys and values of a map arrive in turn.
                None => *key = Some((key_text(&node)?, node.span)),
            },
        }
        Ok(())
    }
}

/// The length of a quoted scalar, including an anchor or tag before it.
fn quoted_length(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().position(|byte| *byte == quote)? + 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote && quote == b'\'' && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn key_text<'s>(node: &Node<'s>) -> Result<Cow<'s, str>, Fault> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Ok(text.clone()),
        Value::Bool(true) => Ok(Cow::Borrowed("true")),
        Value::Bool(false) => Ok(Cow::Borrowed("false")),
        Value::Null => Ok(Cow::Borrowed("null")),
        Value::List(_) | Value::Map(_) => {
            let message = "a key must be a word, not a list or an object".to_owned();
            Err(Fault::Syntax {
                message,
                at: node.span,
                help: None,
            })
        }
    }
}

/// Marks everything below a node as written elsewhere.
fn share(node: &mut Node<'_>) {
    node.origin = Origin::Shared;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(share),
        Value::Map(map) => map
            .entries
            .iter_mut()
            .for_each(|entry| share(&mut entry.value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

/// Merges the maps that `<<: *name` names. The map's own keys win, as YAML 1.1 says. YAML 1.2 has
/// no merge keys any more, but people still write them.
fn merge_shared(map: &mut Map<'_>) {
    let Some(at) = map.entries.iter().position(|entry| entry.key == "<<") else {
        return;
    };
    let is_map = |node: &Node<'_>| node.as_map().is_some();
    // A `<<` that names no maps is kept as an ordinary key.
    let value = &map.entries[at].value;
    if !is_map(value)
        && !value
            .as_list()
            .is_some_and(|items| items.iter().all(is_map))
    {
        return;
    }
    let mut merged = map.entries.remove(at).value;
    share(&mut merged);
    let maps = match merged.value {
        Value::List(items) => items,
        value => vec![Node {
            value,
            span: merged.span,
            origin: merged.origin,
        }],
    };
    let mut taken: HashSet<Cow<'_, str>> =
        map.entries.iter().map(|entry| entry.key.clone()).collect();
    for node in maps {
        let Value::Map(shared) = node.value else {
            continue;
        };
        map.entries.extend(
            shared
                .entries
                .into_iter()
                .filter(|entry| taken.insert(entry.key.clone())),
        );
    }
}

fn scalar<'s>(text: Cow<'s, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value<'s> {
    // Only `!!str` is heeded. Other tags mean nothing to a PRD.
    let forced_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || forced_text {
        return Value::Text(text);
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        word if is_number(word) => Value::Number(text),
        _ => Value::Text(text),
    }
}

/// Says whether a plain word is a decimal number. Rust also parses `inf` and `nan`, so the
/// characters are checked first. Hexadecimal and octal numbers stay words.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let numeric =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.bytes().all(numeric)
        && digits.parse::<f64>().is_ok()
}

/// Turns the scanner's character counts into byte offsets. Counting from the start for each value
/// would be quadratic, and an offset per character would take four bytes each.
struct Offsets {
    /// Byte offset of every [`Self::STEP`]th character. `None` if the text is ASCII.
    marks: Option<Vec<u32>>,
}

impl Offsets {
    const STEP: usize = 32;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "FILE_BYTES_MAX is far below u32::MAX"
    )]
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self { marks: None };
        }
        let marks = text
            .char_indices()
            .step_by(Self::STEP)
            .map(|(offset, _)| offset as u32)
            .collect();
        Self { marks: Some(marks) }
    }

    fn byte(&self, text: &str, char_index: usize) -> usize {
        let Some(marks) = &self.marks else {
            return char_index.min(text.len());
        };
        let Some(&mark) = marks.get(char_index / Self::STEP) else {
            return text.len();
        };
        let rest = &text[mark as usize..];
        let inside = rest
            .char_indices()
            .nth(char_index % Self::STEP)
            .map_or(rest.len(), |(offset, _)| offset);
        mark as usize + inside
    }
}
