//! From bytes to a `Prd`: parse, find the stories, read each, relate them to each other.
//!
//! Every step continues after a problem, so that a person sees all of them at once. Nothing here
//! reads a file.

mod context;
pub(crate) mod document;
pub(crate) mod fields;
pub(crate) mod identify;
pub(crate) mod locate;
mod markdown;
pub(crate) mod relate;
pub(crate) mod state;
pub(crate) mod story;
mod ticket;
mod tracker;

use crate::change::Change;
use crate::diagnostic::{Complaints, Diagnostic};
use crate::limits::{FILE_BYTES_MAX, SPLIT, TICKETS_MAX, YAML_BYTES_MAX, grouped};
use crate::node::Node;
use crate::parse::front_matter::{Body, Split, read_body, split};
use crate::parse::{Findings, Piece, json, yaml};
use crate::read::locate::Style;
use crate::read::relate::{Surroundings, Unknown};
use crate::source::{Source, Sources, Span};
use crate::story::Prd;
pub(crate) use context::{Context, Document};
pub use context::{Format, Options, ReadOnly};

/// The bytes of a PRD, which the caller has read from disk.
#[derive(Debug)]
pub enum Input {
    /// One file.
    File {
        /// The file's name as people know it. Its extension decides the syntax.
        name: String,
        /// The file's content.
        bytes: Vec<u8>,
    },
    /// A folder of Markdown tickets.
    Tickets {
        /// The folder's name.
        name: String,
        /// Name and content of each ticket, in the order of the stories.
        files: Vec<(String, Vec<u8>)>,
    },
}

/// The result of reading a PRD.
#[derive(Debug)]
pub struct Reading {
    /// The texts that spans point into.
    pub sources: Sources,
    /// How the PRD is written.
    pub format: Format,
    /// Whether it is a task graph: nodes, and mostly edges.
    pub is_task_graph: bool,
    /// Why no state can be written into the file, if that is so.
    pub read_only: Option<ReadOnly>,
    /// The PRD. There is one whenever at least one story is usable, even beside errors.
    pub prd: Option<Prd>,
    /// All diagnostics, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// Per code, how many diagnostics were left out.
    pub diagnostics_left_out: Vec<(&'static str, usize)>,
    /// Everything that was normalised, in file order.
    pub changes: Vec<Change>,
    /// How many changes were left out.
    pub changes_left_out: usize,
    has_errors: bool,
}

impl Reading {
    /// Says whether there are errors, so that no loop may be started from this PRD.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }
}

/// Reads a PRD. It never panics, whatever the bytes are, and its memory and time are bounded by the
/// size of the input.
pub fn read(input: Input, options: &Options) -> Reading {
    let mut context = Context::new(options);
    let (sources, format) = to_sources(input, &mut context.complaints);
    // Input that is too large or not text is not parsed at all.
    let prd = if context.complaints.has_error() {
        None
    } else {
        read_sources(&sources, format, &mut context)
    };
    let has_errors = context.complaints.has_error();
    let read_only = context.read_only.filter(|_| prd.is_some());
    let is_task_graph = context.is_task_graph;
    let (diagnostics, diagnostics_left_out) = context.complaints.finish();
    let (changes, changes_left_out) = context.changes.finish();
    Reading {
        sources,
        format,
        is_task_graph,
        read_only,
        prd,
        diagnostics,
        diagnostics_left_out,
        changes,
        changes_left_out,
        has_errors,
    }
}

fn read_sources(sources: &Sources, format: Format, context: &mut Context<'_>) -> Option<Prd> {
    if format == Format::Markdown {
        return markdown::read(sources, context);
    }
    let documents = parse(sources, format, context);
    let layout = locate::locate(&documents, format, context)?;
    if layout.style == Style::GitHub {
        context.read_only = Some(ReadOnly::Export);
    }
    context.is_task_graph = layout.style == Style::TaskGraph;
    let ids = identify::identify(&layout, sources, context);
    let drafts = story::read_all(&layout, ids, context);
    // A ticket is one of many files, and a tracker's issue may wait for one that was not exported.
    let names_others = format == Format::Tickets || layout.style.is_tracker();
    let surroundings = Surroundings {
        groups: document::group_names(&layout),
        edges: layout.edges,
        unknown: if names_others {
            Unknown::Outside
        } else {
            Unknown::Mistake
        },
        outside: document::declared_outside(&layout),
    };
    let related = relate::relate(drafts, &surroundings, context);
    document::read(&layout, related, context)
}

/// Checks sizes and encoding. Bytes that are not UTF-8 become replacement characters, so that the
/// diagnostic can show the place.
fn to_sources(input: Input, complaints: &mut Complaints) -> (Sources, Format) {
    let (files, format) = match input {
        Input::File { name, bytes } => {
            let format = detect_format(&name, &bytes);
            (vec![(name, bytes)], format)
        }
        Input::Tickets { files, .. } => (files, Format::Tickets),
    };
    if files.len() > TICKETS_MAX {
        complaints.push(Diagnostic::limit_exceeded(
            "too many tickets in one folder",
            &grouped(TICKETS_MAX),
            None,
            SPLIT,
        ));
        return (Sources::default(), format);
    }
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let largest = files
        .iter()
        .map(|(_, bytes)| bytes.len())
        .max()
        .unwrap_or_default();
    // The YAML limit also holds for each ticket, because its front matter is YAML.
    let over = match format {
        Format::Json | Format::JsonLines | Format::Markdown | Format::Tickets
            if total > FILE_BYTES_MAX =>
        {
            Some((FILE_BYTES_MAX, ""))
        }
        Format::Yaml if total > YAML_BYTES_MAX => Some((YAML_BYTES_MAX, "")),
        Format::Tickets if largest > YAML_BYTES_MAX => Some((YAML_BYTES_MAX, " for one ticket")),
        _ => None,
    };
    if let Some((bytes_max, of_what)) = over {
        let limit = format!("{} MiB{of_what}", bytes_max >> 20);
        complaints.push(Diagnostic::limit_exceeded(
            "the PRD is too large",
            &limit,
            None,
            SPLIT,
        ));
        return (Sources::default(), format);
    }
    let texts = files
        .into_iter()
        .zip(0..)
        .map(|((name, bytes), file)| Source::new(name, to_text(bytes, file, complaints)));
    (Sources::new(texts.collect()), format)
}

/// Tells the format by the extension and the content. Without an extension that says more, a brace,
/// a bracket, a comment or a code fence begin JSON, and a check box makes Markdown.
fn detect_format(name: &str, bytes: &[u8]) -> Format {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let first = bytes.iter().find(|byte| byte.is_ascii_graphic()).copied();
    match (ending.as_deref(), first) {
        (Some("md" | "markdown" | "mdx" | "mdc"), _) => ticket::format_of(bytes),
        (Some("yaml" | "yml"), _) => Format::Yaml,
        (Some("jsonl" | "ndjson"), _) => Format::JsonLines,
        (Some("json" | "jsonc" | "json5"), _) | (_, Some(b'{' | b'[' | b'/' | b'`')) => {
            if holds_json_lines(bytes) {
                Format::JsonLines
            } else {
                Format::Json
            }
        }
        (_, _) if ticket::has_boxes(bytes) => ticket::format_of(bytes),
        (_, _) => Format::Yaml,
    }
}

/// Says whether the first line is an object of its own and another object follows on the next.
fn holds_json_lines(bytes: &[u8]) -> bool {
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty());
    let is_object = |line: &[u8]| line.starts_with(b"{") && line.ends_with(b"}");
    matches!((lines.next(), lines.next()), (Some(first), Some(second)) if is_object(first) && second.starts_with(b"{\""))
}

fn to_text(bytes: Vec<u8>, file: u32, complaints: &mut Complaints) -> String {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            // UTF-16 text starts with one of these byte order marks.
            let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
            let help = if utf16 {
                "it begins like UTF-16, as some Windows programs write: save it as UTF-8"
            } else {
                "save the file as UTF-8; if it should be text, look at the marked place"
            };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let width = text[at..].chars().next().map_or(0, char::len_utf8);
            complaints.push(Diagnostic::not_text(
                Span::new(file, at, at + width),
                "these bytes are not UTF-8",
                help,
            ));
            return text;
        }
    };
    // NUL is valid UTF-8, but no text has one.
    if let Some(at) = text.find('\0') {
        let help = "a PRD is plain text: this looks like a binary or a damaged file";
        complaints.push(Diagnostic::not_text(
            Span::new(file, at, at + 1),
            "a NUL byte",
            help,
        ));
    }
    text
}

/// Parses every file. Broken ones are reported and left out.
pub(crate) fn parse<'s>(
    sources: &'s Sources,
    format: Format,
    context: &mut Context<'_>,
) -> Vec<Document<'s>> {
    let mut documents = Vec::new();
    for (source, file) in sources.files().iter().zip(0..) {
        let piece = Piece::whole(source, file);
        let mut findings = Findings::default();
        let parsed = match format {
            Format::Json => json::parse(piece, &mut findings)
                .map(|root| Some((root?, None)))
                .map_err(|fault| Box::new(fault.diagnostic("JSON"))),
            Format::Yaml => yaml::parse(piece, &mut findings)
                .map(|root| Some((root?, None)))
                .map_err(|fault| Box::new(fault.diagnostic("YAML"))),
            Format::JsonLines => {
                let (list, faults) = json::parse_lines(piece, &mut findings);
                for fault in faults {
                    context.complaints.push(fault.diagnostic("JSON"));
                }
                Ok(list.map(|list| (list, None)))
            }
            Format::Tickets => parse_ticket(piece, &mut findings),
            // A plan has no tree: `plan` reads it line by line.
            Format::Markdown => Ok(None),
        };
        // Repairs are reported even if the file then turns out to be broken: they may be the cause.
        findings.report(&mut context.complaints);
        match parsed {
            Ok(Some((root, body))) => documents.push(Document { root, file, body }),
            Ok(None) => {}
            Err(diagnostic) => context.complaints.push(*diagnostic),
        }
    }
    documents
}

type ParsedTicket<'s> = Result<Option<(Node<'s>, Option<Body<'s>>)>, Box<Diagnostic>>;

fn parse_ticket<'s>(piece: Piece<'s>, findings: &mut Findings) -> ParsedTicket<'s> {
    let ticket = match split(piece) {
        Split::Ticket(ticket) => ticket,
        Split::NeverClosed(at) => {
            let help = "put a line with `---` behind the last line of YAML".to_owned();
            let message = "what begins here is never closed";
            return Err(Box::new(Diagnostic::broken_syntax(
                "front matter",
                message,
                at,
                Some(help),
            )));
        }
        Split::NoFrontMatter(at) => return Err(Box::new(Diagnostic::not_a_ticket(at))),
    };
    let root = yaml::parse(ticket.front, findings)
        .map_err(|fault| Box::new(fault.diagnostic("front matter")))?;
    Ok(root.map(|root| (root, Some(read_body(ticket.body)))))
}
