//! The structure of a Markdown text: which lines belong to which heading and to which list item.

use super::boxes::CheckBox;
use super::lines::{Kind, Line, lines};

/// The lines of a text with their headings and list items.
#[derive(Debug)]
pub(super) struct Outline<'s> {
    pub(super) lines: Vec<Line<'s>>,
    pub(super) heads: Vec<Head>,
    pub(super) items: Vec<Item>,
}

/// A heading and its section.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) line: usize,
    pub(super) level: usize,
    /// The line after its section: the next heading of this level or above.
    pub(super) end: usize,
    /// The heading whose section this one is in.
    pub(super) parent: Option<usize>,
}

/// A list item.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) line: usize,
    /// The line after everything that belongs to it.
    pub(super) end: usize,
    /// The item that this one is nested in.
    pub(super) parent: Option<usize>,
    /// The heading that it stands under.
    pub(super) head: Option<usize>,
}

impl<'s> Outline<'s> {
    /// Reads a text. `base` is its offset in the file.
    pub(super) fn of(text: &'s str, base: usize) -> Self {
        let mut builder = Builder {
            outline: Self {
                lines: lines(text, base),
                heads: Vec::new(),
                items: Vec::new(),
            },
            open_heads: Vec::new(),
            open_items: Vec::new(),
        };
        builder.run();
        builder.outline
    }

    /// The check box of an item.
    pub(super) fn boxed(&self, item: usize) -> Option<&CheckBox> {
        match &self.lines[self.items[item].line].kind {
            Kind::Item(_, boxed) => boxed.as_ref(),
            _ => None,
        }
    }

    /// The words of an item, with the lines that they are wrapped over.
    pub(super) fn item_words(&self, item: usize) -> String {
        let Item { line, end, .. } = self.items[item];
        let mut words = self.lines[line].words().to_owned();
        for next in &self.lines[line + 1..end] {
            if !matches!(next.kind, Kind::Text(_)) {
                break;
            }
            // An item may begin below its own mark.
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(next.text.trim());
        }
        words
    }

    /// The items whose line is in a range of lines.
    pub(super) fn items_within(&self, lines: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let before = |line: usize| self.items.partition_point(|item| item.line < line);
        before(lines.start)..before(lines.end)
    }

    pub(super) fn head_words(&self, head: usize) -> &str {
        self.lines[self.heads[head].line].words()
    }
}

struct Builder<'s> {
    outline: Outline<'s>,
    open_heads: Vec<usize>,
    open_items: Vec<usize>,
}

impl Builder<'_> {
    fn run(&mut self) {
        let mut after_blank = true;
        for index in 0..self.outline.lines.len() {
            let indent = self.outline.lines[index].indent;
            match self.outline.lines[index].kind.clone() {
                // A heading that is indented like the words of an item belongs to the item.
                Kind::Heading(_, words) if indent >= 2 && self.is_inside(indent) => {
                    self.outline.lines[index].kind = Kind::Text(words.start);
                    self.close_items(index, indent);
                }
                Kind::Heading(level, _) => self.heading(index, level),
                Kind::Item(..) => self.item(index, indent),
                Kind::Text(_) | Kind::Row | Kind::Rule if after_blank => {
                    self.close_items(index, indent);
                }
                Kind::Rule if indent == 0 => self.close_items(index, 0),
                Kind::Text(_) | Kind::Row | Kind::Rule | Kind::Blank | Kind::Opaque => {}
            }
            after_blank = self.outline.lines[index].kind == Kind::Blank;
        }
        let end = self.outline.lines.len();
        self.close_items(end, 0);
        self.close_heads(end, 0);
    }

    fn is_inside(&self, indent: usize) -> bool {
        self.open_items
            .first()
            .is_some_and(|item| self.item_indent(*item) < indent)
    }

    fn item_indent(&self, item: usize) -> usize {
        self.outline.lines[self.outline.items[item].line].indent
    }

    fn heading(&mut self, line: usize, level: usize) {
        self.close_items(line, 0);
        self.close_heads(line, level);
        self.open_heads.push(self.outline.heads.len());
        let parents = &self.open_heads[..self.open_heads.len() - 1];
        self.outline.heads.push(Head {
            line,
            level,
            end: line,
            parent: parents.last().copied(),
        });
    }

    fn item(&mut self, line: usize, indent: usize) {
        // One blank more is a slip of the author, not a nested list.
        while let Some(&open) = self.open_items.last() {
            if indent >= self.item_indent(open) + 2 {
                break;
            }
            self.outline.items[open].end = line;
            self.open_items.pop();
        }
        let parent = self.open_items.last().copied();
        self.open_items.push(self.outline.items.len());
        self.outline.items.push(Item {
            line,
            end: line,
            parent,
            head: self.open_heads.last().copied(),
        });
    }

    /// Ends the items that a line at this indent does not belong to.
    fn close_items(&mut self, line: usize, indent: usize) {
        while let Some(&open) = self.open_items.last() {
            if indent > self.item_indent(open) {
                break;
            }
            self.outline.items[open].end = line;
            self.open_items.pop();
        }
    }

    fn close_heads(&mut self, line: usize, level: usize) {
        while let Some(&open) = self.open_heads.last() {
            if self.outline.heads[open].level < level {
                break;
            }
            self.outline.heads[open].end = line;
            self.open_heads.pop();
        }
    }
}
