//! The items of a Rust file, and which of them exist for tests alone.

use std::ops::Range;

use super::file::File;
use super::gates::Gate;
use super::model::ITEMS_MAX;
use crate::lex::{Kind, joined};
use crate::text::{NAME_BYTES_MAX, clip};

/// How deep modules may nest.
const DEPTH_MAX: usize = 32;
/// One item with its attributes and documentation.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// What it stands in, outermost first.
    pub(super) container: Vec<String>,
    /// The kind and the name, which tell it from its neighbours.
    pub(super) key: String,
    /// The bare name; the key where there is none.
    pub(super) name: String,
    pub(super) gate: Gate,
    pub(super) is_test_function: bool,
    /// Its pieces.
    pub(super) tokens: Range<usize>,
    /// Its first piece after attributes and documentation.
    head: usize,
    /// The pieces between its braces.
    pub(super) inside: Option<Range<usize>>,
    /// Whether its braces hold items.
    holds_items: bool,
}

impl File<'_> {
    /// Says whether the whole file exists for tests alone.
    pub(super) fn is_for_tests(&self) -> bool {
        self.inner_gate(0..self.tokens.len()) == Gate::Test
    }

    /// All items down to those that exist for tests alone, containers before what they hold.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut found = Vec::new();
        let mut walk = Walk {
            file: self,
            enters_tests: false,
            found: &mut found,
        };
        walk.items(0..self.tokens.len(), &[]);
        found
    }

    /// All items, those within test modules too.
    pub(super) fn all_items(&self) -> Vec<Item> {
        let mut found = Vec::new();
        let mut walk = Walk {
            file: self,
            enters_tests: true,
            found: &mut found,
        };
        walk.items(0..self.tokens.len(), &[]);
        found
    }

    /// The bytes of an item.
    pub(super) fn span(&self, item: &Item) -> Range<usize> {
        let end = item.tokens.end.saturating_sub(1);
        self.tokens[item.tokens.start].at..self.tokens[end].end()
    }

    /// Attributes, parameters and body, without the name.
    pub(super) fn body(&self, item: &Item) -> String {
        let named = self.tokens[item.head..item.tokens.end]
            .iter()
            .position(|token| token.text == item.name)
            .map_or(item.head, |at| item.head + at + 1);
        let attributes = joined(&self.tokens[item.tokens.start..item.head]);
        let body = joined(&self.tokens[named..item.tokens.end]);
        format!("{attributes} {body}").trim().to_owned()
    }
}

/// The tests of a file with their bodies.
pub(super) fn tests(text: &str) -> Vec<(String, String)> {
    let Some(file) = File::read(text) else {
        return Vec::new();
    };
    let items = file.all_items();
    let tests = items.iter().filter(|item| item.is_test_function);
    tests
        .map(|item| (full_name(item), file.body(item)))
        .collect()
}

/// Where further tests can be put: at the end of a file with tests at its top, or else at the end of
/// its first module of tests.
pub(super) fn place_for_tests(text: &str) -> Option<usize> {
    let file = File::read(text)?;
    let items = file.all_items();
    let mut tests = items.iter().filter(|item| item.is_test_function);
    let first = tests.next()?;
    if first.container.is_empty() || tests.any(|item| item.container.is_empty()) {
        return Some(text.len());
    }
    let (key, container) = first.container.split_last()?;
    let holder = items.iter().find(|item| {
        item.key == *key && item.container == container && item.key.starts_with("mod ")
    })?;
    Some(file.tokens.get(holder.inside.as_ref()?.end)?.at)
}

/// The bytes of the items that exist for tests alone.
pub(super) fn test_spans(text: &str) -> Vec<Range<usize>> {
    let Some(file) = File::read(text) else {
        return Vec::new();
    };
    if file.is_for_tests() {
        return std::iter::once(0..text.len()).collect();
    }
    let items = file.items();
    let tests = items.iter().filter(|item| item.gate == Gate::Test);
    tests.map(|item| file.span(item)).collect()
}

/// The name of an item with the modules that it stands in, as cargo shows tests.
pub(super) fn full_name(item: &Item) -> String {
    let modules = item
        .container
        .iter()
        .filter_map(|key| key.strip_prefix("mod "));
    let parts: Vec<&str> = modules.chain([item.name.as_str()]).collect();
    parts.join("::")
}

/// A walk over the items of a file.
struct Walk<'f, 'a> {
    file: &'f File<'a>,
    /// Whether test modules are walked as well.
    enters_tests: bool,
    found: &'f mut Vec<Item>,
}

impl Walk<'_, '_> {
    fn items(&mut self, range: Range<usize>, container: &[String]) {
        let file = self.file;
        let mut at = range.start;
        let mut start = None;
        let mut attributes: Vec<Range<usize>> = Vec::new();
        while at < range.end && self.found.len() <= ITEMS_MAX {
            let token = &file.tokens[at];
            if token.kind == Kind::Comment {
                if is_outer_doc(token.text) {
                    start.get_or_insert(at);
                }
                at += 1;
            } else if token.is_mark("#") && file.is_mark(at + 1, "[") {
                start.get_or_insert(at);
                attributes.push(at + 2..file.partners[at + 1]);
                at = file.partners[at + 1] + 1;
            } else if token.is_mark("#") && file.is_mark(at + 1, "!") && file.is_mark(at + 2, "[") {
                at = file.partners[at + 2] + 1;
                start = None;
            } else if token.is_mark(";") {
                at += 1;
                start = None;
                attributes.clear();
            } else {
                let from = start.take().unwrap_or(at);
                let item = self.item(from, at, range.end, &attributes, container);
                attributes.clear();
                at = item.tokens.end.max(at + 1);
                self.take(item, container);
            }
        }
    }

    fn take(&mut self, item: Item, container: &[String]) {
        let is_entered = item.holds_items
            && container.len() < DEPTH_MAX
            && (self.enters_tests || item.gate != Gate::Test);
        let inside = item.inside.clone().filter(|_| is_entered);
        let mut path = container.to_vec();
        path.push(item.key.clone());
        self.found.push(item);
        if let Some(inside) = inside {
            self.items(inside, &path);
        }
    }

    /// Reads the item whose first piece after attributes is `head`.
    fn item(
        &self,
        from: usize,
        head: usize,
        limit: usize,
        attributes: &[Range<usize>],
        container: &[String],
    ) -> Item {
        let file = self.file;
        let keyword_at = file.keyword(head, limit);
        let keyword = file.tokens[keyword_at].text;
        let is_macro = file.is_mark(keyword_at + 1, "!");
        let needs_semicolon =
            !is_macro && ["use", "const", "static", "type", "let", "extern"].contains(&keyword);
        let (end, inside) = file.extent(keyword_at, limit, needs_semicolon);
        let (key, name) = file.key(keyword_at, end, inside.as_ref());
        let is_module = keyword == "mod";
        let mut gate = Gate::Always;
        for attribute in attributes {
            match file.gate_of(attribute.clone()) {
                Gate::Test => gate = Gate::Test,
                Gate::NotTest if gate == Gate::Always => gate = Gate::NotTest,
                Gate::NotTest | Gate::Always => {}
            }
        }
        let is_test_function =
            keyword == "fn" && attributes.iter().any(|a| file.makes_test(a.clone()));
        let is_inner = is_module
            && inside
                .clone()
                .is_some_and(|inside| file.inner_gate(inside) == Gate::Test);
        if is_test_function || is_inner {
            gate = Gate::Test;
        }
        let holds_items =
            ["mod", "impl", "trait"].contains(&keyword) || (is_macro && keyword != "macro_rules");
        Item {
            container: container.to_vec(),
            key,
            name,
            gate,
            is_test_function,
            tokens: from..end,
            head,
            inside,
            holds_items,
        }
    }
}

impl File<'_> {
    /// The piece that says what kind of item it is, after `pub`, `async` and the like.
    fn keyword(&self, head: usize, limit: usize) -> usize {
        let mut at = head;
        while at + 1 < limit {
            let next_is = |words: &[&str]| words.iter().any(|word| self.is_word(at + 1, word));
            let token = &self.tokens[at];
            if token.is_word("pub") && self.is_mark(at + 1, "(") {
                at = self.partners[at + 1] + 1;
            } else if ["pub", "async", "default"].iter().any(|w| token.is_word(w))
                || (token.is_word("unsafe") && !self.is_mark(at + 1, "{"))
                || (token.is_word("const") && next_is(&["fn", "unsafe", "async", "extern"]))
                || token.kind == Kind::Comment
            {
                at += 1;
            } else if token.is_word("extern")
                && self.tokens[at + 1].kind == Kind::Text
                && self.is_word(at + 2, "fn")
            {
                at += 2;
            } else if token.is_word("extern") && next_is(&["fn"]) {
                at += 1;
            } else {
                break;
            }
        }
        at.min(limit.saturating_sub(1)).max(head)
    }

    /// Where an item ends, and what stands between its braces.
    fn extent(
        &self,
        keyword_at: usize,
        limit: usize,
        needs_semicolon: bool,
    ) -> (usize, Option<Range<usize>>) {
        let mut at = keyword_at;
        // `extern "C" { … }` is a block, and so is what an unknown word opens.
        let is_block = self.is_word(at, "extern") && self.is_mark(at + 2, "{");
        while at < limit {
            let token = &self.tokens[at];
            if token.is_mark(";") {
                return (at + 1, None);
            }
            let partner = self.partners[at];
            if token.is_mark("{") && (!needs_semicolon || is_block) {
                return (partner + 1, Some(at + 1..partner));
            }
            at = partner.max(at) + 1;
        }
        (limit, None)
    }

    /// The kind and the name of an item.
    fn key(
        &self,
        keyword_at: usize,
        end: usize,
        inside: Option<&Range<usize>>,
    ) -> (String, String) {
        let keyword = self.tokens[keyword_at].text;
        let named = |at: usize| {
            let name = self.tokens.get(at).filter(|t| t.kind == Kind::Word);
            name.map(|name| {
                let name = clip(name.text, NAME_BYTES_MAX);
                (format!("{keyword} {name}"), name)
            })
        };
        let found = match keyword {
            "fn" | "mod" | "struct" | "enum" | "trait" | "union" | "type" | "const" | "static" => {
                let skipped = usize::from(self.is_word(keyword_at + 1, "mut"));
                named(keyword_at + 1 + skipped)
            }
            "macro_rules" => named(keyword_at + 2),
            _ => None,
        };
        found.unwrap_or_else(|| {
            // Without a name, what stands before the braces tells it from its neighbours.
            let until = inside.map_or(end, |inside| inside.start.saturating_sub(1));
            let text = joined(&self.tokens[keyword_at..until.max(keyword_at)]);
            let text = clip(&text, NAME_BYTES_MAX);
            (text.clone(), text)
        })
    }
}

fn is_outer_doc(comment: &str) -> bool {
    (comment.starts_with("///") && !comment.starts_with("////"))
        || (comment.starts_with("/**") && !comment.starts_with("/***") && comment != "/**/")
}
