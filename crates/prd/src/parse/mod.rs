//! Text in, tree out: one parser per syntax, all with the same kind of result.
//!
//! Parsers know values and places, not stories. Each stops at the first fault that it cannot
//! repair, because anything after that would be guesswork.

pub(crate) mod front_matter;
pub(crate) mod json;
pub(crate) mod yaml;

use crate::diagnostic::{Complaints, Diagnostic, Repair, Severity};
use crate::keys;
use crate::limits::{DEPTH_MAX, NODES_MAX, SPLIT, grouped};
use crate::node::{DoubleKey, Map, Node};
use crate::source::{Source, Span};

/// The part of a file that a parser is given, and its offset in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'s> {
    pub(crate) file: u32,
    pub(crate) text: &'s str,
    /// Offset of the piece's first byte in the file.
    pub(crate) base: usize,
}

impl<'s> Piece<'s> {
    /// A whole file without its byte order mark. The base keeps places right for the file with the
    /// mark, which is written back.
    pub(crate) fn whole(source: &'s Source, file: u32) -> Self {
        const BYTE_ORDER_MARK: char = '\u{FEFF}';
        let whole = source.text();
        let text = whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole);
        Self {
            file,
            text,
            base: whole.len() - text.len(),
        }
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.base + start, self.base + end)
    }
}

/// What a parser found besides the tree.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    repairs: Vec<(Repair, Span)>,
    doubles: Vec<DoubleKey>,
}

impl Findings {
    /// A hostile file may have a mistake per byte. Far fewer are shown in any case.
    const KEPT_MAX: usize = 100_000;

    fn repaired(&mut self, repair: Repair, span: Span) {
        if self.repairs.len() < Self::KEPT_MAX {
            self.repairs.push((repair, span));
        }
    }

    /// Notes the duplicate keys of a finished map.
    fn look_for_doubles(&mut self, map: &Map<'_>) {
        let room = Self::KEPT_MAX - self.doubles.len();
        self.doubles.extend(map.doubles().into_iter().take(room));
    }

    /// Turns the findings into diagnostics: one per kind of repair, one per duplicate key.
    pub(crate) fn report(mut self, complaints: &mut Complaints) {
        // By kind, then by place. A file with a thousand trailing commas has one mistake, not a
        // thousand.
        self.repairs.sort_unstable();
        for group in self.repairs.chunk_by(|a, b| a.0 == b.0) {
            let places: Vec<Span> = group.iter().map(|(_, span)| *span).collect();
            if let Some(diagnostic) = group
                .first()
                .and_then(|(repair, _)| Diagnostic::repaired(*repair, &places))
            {
                complaints.push(diagnostic);
            }
        }
        for DoubleKey {
            key,
            first,
            second,
            same_value,
        } in self.doubles
        {
            // If a field that we act on has two different values, nobody can know which was meant.
            let matters = !same_value && keys::is_known(&key);
            let severity = if matters {
                Severity::Error
            } else {
                Severity::Warning
            };
            complaints.push(Diagnostic::duplicate_key(
                &key, &key, second, first, severity,
            ));
        }
    }
}

/// Why a parser gave up.
#[derive(Debug)]
pub(crate) enum Fault {
    Syntax {
        message: String,
        at: Span,
        help: Option<String>,
    },
    TooDeep {
        at: Span,
    },
    TooManyValues {
        at: Span,
    },
}

impl Fault {
    pub(crate) fn diagnostic(self, format: &str) -> Diagnostic {
        match self {
            Self::Syntax { message, at, help } => {
                Diagnostic::broken_syntax(format, &message, at, help)
            }
            Self::TooDeep { at } => {
                let help = "no PRD needs that: look at the marked place for a bracket too many";
                let limit = DEPTH_MAX.to_string();
                Diagnostic::limit_exceeded(
                    "lists and objects are nested too deep",
                    &limit,
                    Some(at),
                    help,
                )
            }
            Self::TooManyValues { at } => Diagnostic::limit_exceeded(
                "too many values in one file",
                &grouped(NODES_MAX),
                Some(at),
                SPLIT,
            ),
        }
    }
}

/// A parsed document: its root, or `None` if the document is empty.
pub(crate) type Parsed<'s> = Result<Option<Node<'s>>, Fault>;
