//! Which modules a source file declares, which names it imports, and which paths it speaks of.
//!
//! It reads words, not grammar. Paths inside string literals, such as those that serde's attributes
//! take, are not seen, and neither is what a macro puts together.

use std::collections::BTreeSet;

use super::rust_source::{Word, words};

/// What one file says about modules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline<'a> {
    /// Declared modules by their path below the file; inline modules are among them.
    pub(super) modules: BTreeSet<Vec<&'a str>>,
    /// Names of the functions, types and constants that it defines, wherever they stand.
    pub(super) items: BTreeSet<&'a str>,
    pub(super) imports: Vec<Import<'a>>,
    pub(super) mentions: Vec<Mention<'a>>,
}

/// A path somewhere in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention<'a> {
    pub(super) line_number: usize,
    /// The inline modules that it stands in, from outside to inside.
    pub(super) within: Vec<&'a str>,
    pub(super) path: Vec<&'a str>,
}

/// One name that a `use` brings into the file; the name of a glob is `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import<'a> {
    pub(super) name: &'a str,
    pub(super) offered: Offered,
    pub(super) mention: Mention<'a>,
}

/// Whether an import is for the file alone or for others too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Here,
    Onward,
}

/// Reads a file; its tests are passed over.
pub(super) fn outline(source: &str) -> Outline<'_> {
    let words = words(source);
    let mut reader = Reader {
        words: &words,
        at: 0,
        depth: 0,
        within: Vec::new(),
        outline: Outline::default(),
    };
    while reader.at < words.len() {
        reader.step();
    }
    reader.outline
}

const DEFINING: [&str; 8] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static",
];

struct Reader<'w, 'a> {
    words: &'w [Word<'a>],
    at: usize,
    depth: usize,
    /// The inline modules that are open, with the depth of their braces.
    within: Vec<(&'a str, usize)>,
    outline: Outline<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn step(&mut self) {
        match self.text(0) {
            "{" => self.depth += 1,
            "}" => self.close(),
            "mod" if self.is_name(1) => return self.module(),
            "use" if self.text(1) != "<" => return self.import(),
            word if DEFINING.contains(&word) && self.is_definition() => {
                self.outline.items.insert(self.text(1));
                self.at += 1;
            }
            _ if self.is_name(0) => return self.mention(),
            _ => {}
        }
        self.at += 1;
    }

    /// Tells `const A` from `*const A` and `const fn`, and `static A` from `&'static A`.
    fn is_definition(&self) -> bool {
        self.is_name(1) && self.text(1) != "fn" && !["*", "'"].contains(&self.before(1))
    }

    fn text(&self, ahead: usize) -> &'a str {
        self.words.get(self.at + ahead).map_or("", |word| word.text)
    }

    fn is_name(&self, ahead: usize) -> bool {
        self.words.get(self.at + ahead).is_some_and(Word::is_name)
    }

    fn before(&self, back: usize) -> &'a str {
        let index = self.at.checked_sub(back);
        index.map_or("", |index| self.words[index].text)
    }

    fn inline_modules(&self) -> Vec<&'a str> {
        self.within.iter().map(|(name, _)| *name).collect()
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self
            .within
            .last()
            .is_some_and(|(_, depth)| *depth == self.depth)
        {
            self.within.pop();
        }
    }

    fn module(&mut self) {
        let name = self.text(1);
        let mut path = self.inline_modules();
        path.push(name);
        self.outline.modules.insert(path);
        if self.text(2) == "{" {
            self.within.push((name, self.depth));
            self.depth += 1;
        }
        self.at += 3;
    }

    fn import(&mut self) {
        // Only `pub(crate)` and its like end in a bracket here.
        let offered = if ["pub", ")"].contains(&self.before(1)) {
            Offered::Onward
        } else {
            Offered::Here
        };
        self.at += 1;
        self.tree(&[], offered);
    }

    /// Reads one branch of a `use`; stops before the comma, brace or semicolon after it.
    fn tree(&mut self, prefix: &[&'a str], offered: Offered) {
        let mut path = prefix.to_vec();
        loop {
            match self.text(0) {
                "{" => {
                    self.at += 1;
                    return self.branches(&path, offered);
                }
                "::" if path.is_empty() => path.push("::"),
                "::" => {}
                "" | "}" | "," | ";" => return self.bind(path, None, offered),
                "as" => {
                    let name = self.text(1);
                    self.at += 2;
                    return self.bind(path, Some(name), offered);
                }
                name => path.push(name),
            }
            self.at += 1;
        }
    }

    fn branches(&mut self, prefix: &[&'a str], offered: Offered) {
        while !["", "}"].contains(&self.text(0)) {
            self.tree(prefix, offered);
            if self.text(0) == "," {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn bind(&mut self, mut path: Vec<&'a str>, name: Option<&'a str>, offered: Offered) {
        if path.len() > 1 && path.last() == Some(&"self") {
            path.pop();
        }
        let Some(last) = path.last() else {
            return;
        };
        let index = self.at.min(self.words.len() - 1);
        self.outline.imports.push(Import {
            name: name.unwrap_or(last),
            offered,
            mention: Mention {
                line_number: self.words[index].line_number,
                within: self.inline_modules(),
                path,
            },
        });
    }

    /// A path, or one name alone if it can only be an item: in capitals, or called.
    fn mention(&mut self) {
        let (line_number, first) = (self.words[self.at].line_number, self.text(0));
        let follows = [".", "::", "$"].contains(&self.before(1))
            || (self.before(1) == "in" && self.before(2) == "(");
        let mut path = vec![first];
        self.at += 1;
        while self.text(0) == "::" && self.is_name(1) {
            path.push(self.text(1));
            self.at += 2;
        }
        let is_called = first != "pub" && self.text(0) == "(";
        let is_item = first.starts_with(char::is_uppercase) || is_called;
        if !follows && (path.len() > 1 || is_item) {
            self.outline.mentions.push(Mention {
                line_number,
                within: self.inline_modules(),
                path,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_imports() {
        for (source, expected) in [
            ("use a::b;", "b = a::b"),
            ("pub use a::b;", "onward b = a::b"),
            ("pub(crate) use a::b;", "onward b = a::b"),
            ("pub(in crate::x) use a::b;", "onward b = a::b"),
            ("use a::b as c;", "c = a::b"),
            (
                "use a::{self, b::{C, D as E}, f,};",
                "a = a, C = a::b::C, E = a::b::D, f = a::f",
            ),
            ("use super::*;", "* = super::*"),
            ("use ::a::b;", "b = ::::a::b"),
            (
                "mod m { use super::b; } use c;",
                "in m: b = super::b, c = c",
            ),
            ("fn f() -> impl Fn() + use<'a> {}", ""),
            ("#[cfg(test)] use a::b;", ""),
            ("// use a::b;", ""),
        ] {
            let seen: Vec<String> = outline(source).imports.iter().map(shown_import).collect();
            assert_eq!(seen.join(", "), expected, "{source}");
        }
    }

    #[test]
    fn a_file_mentions() {
        for (source, expected) in [
            ("let x = a::b(c);", "a::b"),
            ("x.a::<B>(y)", "B"),
            (
                "let a: crate::a::B<super::C> = d();",
                "crate::a::B, super::C, d",
            ),
            ("mod m { fn f() { super::g() } } h()", "in m: super::g, h"),
            ("pub(crate) fn f() {}", ""),
            ("pub(in crate::x) fn f() {}", ""),
            ("\"crate::a::b\"", ""),
            ("fn f(a: &'static A, b: *const B) {}", "A, B"),
            ("mod tests;", ""),
            ("#[cfg(test)] mod tests { fn f() { a::b() } }", ""),
        ] {
            let seen: Vec<String> = outline(source).mentions.iter().map(shown).collect();
            assert_eq!(seen.join(", "), expected, "{source}");
        }
    }

    #[test]
    fn a_file_declares() {
        let source = "mod a; pub mod b { mod c; struct D; } #[cfg(test)] mod e; const F: u8 = 1;";
        let seen = outline(source);
        let modules = BTreeSet::from([vec!["a"], vec!["b"], vec!["b", "c"]]);
        assert_eq!(
            (seen.modules, seen.items),
            (modules, BTreeSet::from(["D", "F"]))
        );
    }

    fn shown_import(import: &Import<'_>) -> String {
        let onward = if import.offered == Offered::Onward {
            "onward "
        } else {
            ""
        };
        let (path, within) = (import.mention.path.join("::"), &import.mention.within);
        let within = within
            .iter()
            .map(|name| format!("in {name}: "))
            .collect::<String>();
        format!("{within}{onward}{} = {path}", import.name)
    }

    fn shown(mention: &Mention<'_>) -> String {
        let within = mention.within.iter().map(|name| format!("in {name}: "));
        within.collect::<String>() + &mention.path.join("::")
    }
}
