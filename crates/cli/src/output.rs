//! stdout is data, stderr is talk. With `--json`, stdout is one envelope and nothing else.
//!
//! Everything printed goes through here, so that a closed pipe ends the program quietly and colours
//! obey one rule.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use home::Redactor;
use prd::Paint;
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::When;
use crate::failure::{Exit, Failure};
use crate::table::Paper;

/// How to talk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) json: bool,
    pub(crate) color: When,
}

/// A command that might come next, for people and for programs.
#[derive(Debug, Serialize)]
pub(crate) struct NextAction {
    pub(crate) command: String,
    pub(crate) description: String,
}

impl NextAction {
    pub(crate) fn new(command: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            description: description.into(),
        }
    }
}

/// The number of the envelope's form, which `loopwright schema envelope` prints. It grows when
/// something is renamed or taken away; what is added leaves it as it is.
const SCHEMA_NUMBER: u32 = 1;

#[derive(Serialize)]
struct Envelope<'a> {
    schema: u32,
    ok: bool,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody<'a>>,
    next_actions: &'a [NextAction],
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    kind: &'a str,
    message: Cow<'a, str>,
    hints: &'a [String],
}

/// Collects what a command says and prints it in the asked-for form.
#[derive(Debug)]
pub struct Output {
    style: Style,
    command: String,
    result: Option<Box<RawValue>>,
    next_actions: Vec<NextAction>,
    error: Option<Failure>,
    /// Whether stdout is lines of JSON, of which the envelope is the last.
    is_stream: bool,
    /// What takes secrets out of all that is said.
    redactor: Option<Redactor>,
}

impl Output {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            command: String::new(),
            result: None,
            next_actions: Vec::new(),
            error: None,
            is_stream: false,
            redactor: None,
        }
    }

    /// From now on, nothing that is said has a secret in it.
    pub(crate) fn hide(&mut self, redactor: Redactor) {
        self.redactor = Some(redactor);
    }

    fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.redactor {
            Some(redactor) => redactor.text(text),
            None => Cow::Borrowed(text),
        }
    }

    /// A value as JSON without secrets. The form of its numbers is kept where nothing is hidden.
    fn as_json<T: Serialize>(&self, value: &T) -> Result<String, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        let Some(redactor) = &self.redactor else {
            return Ok(text);
        };
        if redactor.find(text.as_bytes()).is_empty() {
            return Ok(text);
        }
        let mut value = serde_json::from_str(&text)?;
        redactor.value(&mut value);
        serde_json::to_string(&value)
    }

    /// From now on, `--json` means one line of JSON for each thing that happens.
    pub(crate) fn stream(&mut self) {
        self.is_stream = true;
    }

    /// One line of JSON on stdout, at once; nothing without `--json`.
    pub(crate) fn line<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        if !self.style.json {
            return Ok(());
        }
        let line = self
            .as_json(value)
            .map_err(|error| Failure::environment("cannot write JSON", &error))?;
        write_out(&(line + "\n"))
    }

    /// Names the command in the envelope.
    pub fn command(&mut self, name: &str) {
        name.clone_into(&mut self.command);
    }

    pub(crate) fn is_json(&self) -> bool {
        self.style.json
    }

    /// Whether drawings on stderr are coloured.
    pub(crate) fn paint(&self) -> Paint {
        if self.wants_colours(io::stderr().is_terminal()) {
            Paint::Ansi
        } else {
            Paint::Plain
        }
    }

    /// Whether data on stdout is coloured.
    pub(crate) fn colours_data(&self) -> bool {
        self.wants_colours(io::stdout().is_terminal())
    }

    fn wants_colours(&self, is_terminal: bool) -> bool {
        wants_colours(self.style.color, is_terminal)
    }

    /// What tables on stdout are drawn on.
    pub(crate) fn paper(&self) -> Paper {
        Paper {
            columns: terminal_columns(),
            colours: self.colours_data(),
        }
    }

    /// Data for people, on stdout; nothing with `--json`.
    pub fn data(&mut self, text: &str) -> Result<(), Failure> {
        if self.style.json {
            Ok(())
        } else {
            write_out(&self.redacted(text))
        }
    }

    /// Data as it is, on stdout; nothing with `--json`.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.style.json {
            Ok(())
        } else {
            match &self.redactor {
                Some(redactor) => write_bytes(&redactor.bytes(bytes)),
                None => write_bytes(bytes),
            }
        }
    }

    /// Talk, on stderr; nothing with `--json`, where the envelope says it all.
    pub fn talk(&mut self, text: &str) {
        if !self.style.json {
            // Nobody is left to tell when stderr is closed.
            let _ = io::stderr().write_all(self.redacted(text).as_bytes());
        }
    }

    /// The result for `--json`; it is only made when somebody wants it.
    pub(crate) fn result<T: Serialize>(&mut self, make: impl FnOnce() -> T) -> Result<(), Failure> {
        if self.style.json {
            let raw = self.as_json(&make()).and_then(RawValue::from_string);
            self.result =
                Some(raw.map_err(|error| Failure::environment("cannot write JSON", &error))?);
        }
        Ok(())
    }

    /// What a `ralph` did, for `--json`.
    pub fn ralph_result(
        &mut self,
        reason: &str,
        counts: [(&str, Option<u64>); 5],
        branch: Option<&str>,
    ) -> Result<(), Failure> {
        self.result(|| {
            let counts = counts.into_iter();
            let mut value: serde_json::Map<String, serde_json::Value> = counts
                .map(|(name, count)| (name.to_owned(), count.into()))
                .collect();
            value.insert("reason".to_owned(), reason.into());
            value.insert("branch".to_owned(), branch.into());
            value
        })
    }

    pub(crate) fn next(&mut self, action: NextAction) {
        self.next_actions.push(action);
    }

    /// Notes that the command did its work and the answer is bad news; the envelope says `ok:
    /// false`.
    pub(crate) fn bad_news(&mut self, failure: Failure) {
        self.error = Some(failure);
    }

    /// Prints the envelope, if one was asked for.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        // A stream without a result has said everything in its lines.
        if !self.style.json || (self.is_stream && self.result.is_none()) {
            return Ok(());
        }
        let envelope = self.envelope();
        write_out(&envelope)
    }

    fn envelope(&self) -> String {
        let error = self.error.as_ref().map(|failure| ErrorBody {
            kind: failure.exit.kind(),
            message: self.redacted(&failure.message),
            hints: &failure.hints,
        });
        let envelope = Envelope {
            schema: SCHEMA_NUMBER,
            ok: error.is_none(),
            command: &self.command,
            result: self.result.as_deref(),
            error,
            next_actions: &self.next_actions,
        };
        let text = if self.is_stream {
            serde_json::to_string(&envelope)
        } else {
            serde_json::to_string_pretty(&envelope)
        };
        let text = text.unwrap_or_else(|error| {
            unreachable!("our own types have no keys that JSON cannot have: {error}")
        });
        text + "\n"
    }

    /// Says that the command failed, and gives its exit code.
    pub(crate) fn fail(mut self, failure: &Failure) -> Exit {
        if self.style.json {
            let Failure {
                exit,
                message,
                hints,
            } = failure;
            self.error = Some(Failure {
                exit: *exit,
                message: message.clone(),
                hints: hints.clone(),
            });
            let _ = write_out(&self.envelope());
        } else {
            self.say(failure);
        }
        failure.exit
    }

    /// Says what went wrong, on stderr; with `--json` the envelope does.
    pub fn say(&mut self, failure: &Failure) {
        let (error, help) = match self.paint() {
            Paint::Ansi => ("\u{1b}[1;31merror\u{1b}[0m", "\u{1b}[36mhelp\u{1b}[0m"),
            Paint::Plain => ("error", "help"),
        };
        self.talk(&format!("{error}: {}\n", failure.message));
        for hint in &failure.hints {
            self.talk(&format!("{help}: {hint}\n"));
        }
    }
}

/// How wide stdout is: `COLUMNS` says it, else the terminal does. A pipe has no width.
pub(crate) fn terminal_columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.parse().ok());
    let stdout = io::stdout();
    let measured = || {
        let size = stdout.is_terminal().then(|| tcgetwinsize(&stdout).ok())??;
        Some(usize::from(size.ws_col))
    };
    said.or_else(measured).filter(|columns| *columns > 0)
}

/// Whether help on stdout is coloured. It is printed before the flags are read, so that only a terminal
/// and `NO_COLOR` say so.
pub(crate) fn is_coloured() -> bool {
    wants_colours(When::Auto, io::stdout().is_terminal())
}

fn wants_colours(when: When, is_terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && is_terminal
        }
    }
}

/// Writes to stdout; whoever closed the pipe (`| head`) has seen enough.
fn write_out(text: &str) -> Result<(), Failure> {
    write_bytes(text.as_bytes())
}

fn write_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::environment("cannot write to stdout", &error))
        }
        _ => Ok(()),
    }
}
