//! From bytes to a `Prd`: parse, find the stories, read each, relate them to each other.
//!
//! Every step continues after a problem, so that a person sees all of them at once. Nothing here
//! reads a file.

pub(crate) mod document;
pub(crate) mod fields;
pub(crate) mod locate;
pub(crate) mod relate;
pub(crate) mod state;
pub(crate) mod story;

use crate::change::{Change, ChangeKind, Changes};
use crate::diagnostic::{Complaints, Diagnostic};
use crate::limits::{FILE_BYTES_MAX, SPLIT, TICKETS_MAX, YAML_BYTES_MAX, grouped};
use crate::node::Node;
use crate::parse::front_matter::{Body, Split, read_body, split};
use crate::parse::{Findings, Piece, json, yaml};
use crate::source::{Source, Sources, Span};
use crate::story::Prd;

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

/// What the reader needs to know from outside.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Further agents that a story's `tool` may name.
    pub tools: Vec<String>,
}

/// How the PRD is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with or without mistakes.
    Json,
    /// YAML.
    Yaml,
    /// Markdown tickets with YAML front matter.
    Tickets,
}

/// The result of reading a PRD.
#[derive(Debug)]
pub struct Reading {
    /// The texts that spans point into.
    pub sources: Sources,
    /// How the PRD is written.
    pub format: Format,
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
    let mut context = Context {
        complaints: Complaints::default(),
        changes: Changes::default(),
        options,
    };
    let (sources, format) = to_sources(input, &mut context.complaints);
    // Input that is too large or not text is not parsed at all.
    let prd = if context.complaints.has_error() {
        None
    } else {
        read_sources(&sources, format, &mut context)
    };
    let has_errors = context.complaints.has_error();
    let (diagnostics, diagnostics_left_out) = context.complaints.finish();
    let (changes, changes_left_out) = context.changes.finish();
    Reading {
        sources,
        format,
        prd,
        diagnostics,
        diagnostics_left_out,
        changes,
        changes_left_out,
        has_errors,
    }
}

fn read_sources(sources: &Sources, format: Format, context: &mut Context<'_>) -> Option<Prd> {
    let documents = parse(sources, format, context);
    let layout = locate::locate(&documents, format, context)?;
    let ids = story::identify(&layout, sources, context);
    let drafts = story::read_all(&layout, ids, context);
    document::read(&layout, relate::relate(drafts, &layout, context), context)
}

/// Where every step writes its findings.
pub(crate) struct Context<'o> {
    pub(crate) complaints: Complaints,
    pub(crate) changes: Changes,
    pub(crate) options: &'o Options,
}

impl Context<'_> {
    pub(crate) fn changed(&mut self, at: Span, kind: ChangeKind) {
        self.changes.push(at, kind);
    }
}

/// One parsed file.
pub(crate) struct Document<'s> {
    pub(crate) root: Node<'s>,
    pub(crate) file: u32,
    /// The text below the front matter of a ticket.
    pub(crate) body: Option<Body<'s>>,
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
        Format::Json | Format::Tickets if total > FILE_BYTES_MAX => Some((FILE_BYTES_MAX, "")),
        Format::Yaml if total > YAML_BYTES_MAX => Some((YAML_BYTES_MAX, "")),
        Format::Tickets if largest > YAML_BYTES_MAX => Some((YAML_BYTES_MAX, " for one ticket")),
        Format::Json | Format::Yaml | Format::Tickets => None,
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

/// Tells the format by the extension, or else by the first visible character: a brace, a bracket, a
/// comment or a code fence begin JSON.
fn detect_format(name: &str, bytes: &[u8]) -> Format {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let first = bytes.iter().find(|byte| byte.is_ascii_graphic()).copied();
    match (ending.as_deref(), first) {
        (Some("md" | "markdown" | "mdx"), _) => Format::Tickets,
        (Some("yaml" | "yml"), _) => Format::Yaml,
        (Some("json" | "jsonc" | "json5"), _) | (_, Some(b'{' | b'[' | b'/' | b'`')) => {
            Format::Json
        }
        (_, _) => Format::Yaml,
    }
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
    const BYTE_ORDER_MARK: char = '\u{FEFF}';
    let mut documents = Vec::new();
    for (source, file) in sources.files().iter().zip(0..) {
        let text = source
            .text()
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(source.text());
        // The base keeps spans right for the file with its byte order mark, which `mark` writes
        // back.
        let piece = Piece {
            file,
            text,
            base: source.text().len() - text.len(),
        };
        let mut findings = Findings::default();
        let parsed = match format {
            Format::Json => json::parse(piece, &mut findings)
                .map(|root| Some((root?, None)))
                .map_err(|fault| Box::new(fault.diagnostic("JSON"))),
            Format::Yaml => yaml::parse(piece, &mut findings)
                .map(|root| Some((root?, None)))
                .map_err(|fault| Box::new(fault.diagnostic("YAML"))),
            Format::Tickets => parse_ticket(piece, &mut findings),
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
