//! What a run prints, as lines for people: what a known CLI's stream says it does, and the text of
//! everything else. Nothing in them acts on a terminal.

use agents::{Activity, Kind, Reader};

use crate::words::{begun_colour_bytes, first_line, visible};

/// The width of an activity's word; further lines of what was said begin below its text.
const MARGIN: usize = 8;

/// Renders one stream of one run as its bytes come.
pub(super) struct Rendering {
    form: Form,
    /// The folder that a run works in; files in it are shown without it.
    folder: String,
}

enum Form {
    /// As it was printed.
    Raw,
    /// Text whose last character, or last colour, may not be whole yet.
    Text(Vec<u8>),
    Activities(Box<Reader>),
}

impl Rendering {
    /// The bytes themselves.
    pub(super) fn raw() -> Self {
        Self {
            form: Form::Raw,
            folder: String::new(),
        }
    }

    /// The text that a program prints that works in this folder, made visible.
    pub(super) fn text(folder: String) -> Self {
        Self {
            form: Form::Text(Vec::new()),
            folder,
        }
    }

    /// The standard output of an agent that works in this folder.
    pub(super) fn of_agent(kind: Kind, folder: String) -> Self {
        if kind == Kind::Command {
            return Self::text(folder);
        }
        Self {
            form: Form::Activities(Box::new(Reader::new(kind))),
            folder,
        }
    }

    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        match &mut self.form {
            Form::Raw => bytes.to_vec(),
            Form::Text(rest) => {
                rest.extend_from_slice(bytes);
                let whole = whole_characters(rest);
                let text: Vec<u8> = rest.drain(..whole).collect();
                shown(&String::from_utf8_lossy(&text), &self.folder).into_bytes()
            }
            Form::Activities(reader) => self::lines(&reader.feed(bytes), &self.folder),
        }
    }

    /// Says that bytes of the stream are missing here.
    pub(super) fn skip(&mut self, n_missing: u64) -> Vec<u8> {
        // A line that was cut must not be joined with the rest of another one.
        let mut out = self.feed(b"\n");
        out.extend(format!("[{n_missing} bytes are missing here]\n").bytes());
        out
    }

    /// What was left when the stream ended.
    pub(super) fn finish(self) -> Vec<u8> {
        match self.form {
            Form::Raw => Vec::new(),
            Form::Text(rest) => shown(&String::from_utf8_lossy(&rest), &self.folder).into_bytes(),
            Form::Activities(reader) => self::lines(&reader.finish(), &self.folder),
        }
    }
}

/// How many bytes end with a whole character, and with no colour that has only begun. Bytes that are no
/// text count as whole.
fn whole_characters(bytes: &[u8]) -> usize {
    const CHARACTER_BYTES_MAX: usize = 4;
    let last = bytes.utf8_chunks().last();
    let (valid, half) = last.map_or(("", 0), |chunk| (chunk.valid(), chunk.invalid().len()));
    match half {
        0 => bytes.len() - begun_colour_bytes(valid),
        half if half < CHARACTER_BYTES_MAX => bytes.len() - half,
        _ => bytes.len(),
    }
}

fn lines(activities: &[Activity], folder: &str) -> Vec<u8> {
    let lines = activities.iter().map(|activity| whole(activity, folder));
    lines.collect::<String>().into_bytes()
}

/// An activity with all that was said.
fn whole(activity: &Activity, folder: &str) -> String {
    let Activity::Said { text } = activity else {
        return brief(activity, folder) + "\n";
    };
    let text = shown(text, folder);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut out = labelled("said", first) + "\n";
    for line in lines {
        out.push_str(format!("{:MARGIN$}{line}", "").trim_end());
        out.push('\n');
    }
    out
}

/// An activity in one line of a list.
fn brief(activity: &Activity, folder: &str) -> String {
    let (word, text) = told(activity, folder);
    labelled(word, &text)
}

/// An activity in a few words, beside other things.
pub(super) fn in_view(activity: &Activity, folder: &str) -> String {
    let (word, text) = told(activity, folder);
    format!("{word} {text}").trim_end().to_owned()
}

/// The word for an activity, and the first line of what it is about. Files in the folder are named
/// without it.
fn told(activity: &Activity, folder: &str) -> (&'static str, String) {
    let (word, text) = match activity {
        Activity::Said { text } => ("said", text.clone()),
        Activity::ToolStarted { tool, target } => {
            ("tool", format!("{tool} {target}").trim_end().to_owned())
        }
        Activity::ToolEnded { tool, ok: true } => ("done", tool.clone()),
        Activity::ToolEnded { tool, ok: false } => ("failed", tool.clone()),
        Activity::Edited { path } => ("edited", path.clone()),
        Activity::Planned { text } => ("planned", text.clone()),
        Activity::Used {
            tokens,
            cost_micro_usd,
        } => ("used", used(*tokens, *cost_micro_usd)),
        Activity::Troubled { why } => ("trouble", why.clone()),
    };
    (word, first_line(&shown(&text, folder)))
}

/// A text for people: nothing in it acts on a terminal, and paths of the run's folder are relative.
pub(super) fn shown(text: &str, folder: &str) -> String {
    visible(&home::relative(text, folder))
}

fn labelled(word: &str, text: &str) -> String {
    format!("{word:<MARGIN$}{text}").trim_end().to_owned()
}

fn used(tokens: Option<u64>, cost_micro_usd: Option<u64>) -> String {
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let cost = cost_micro_usd.map(dollars);
    let parts: Vec<String> = [tokens, cost].into_iter().flatten().collect();
    parts.join(", ")
}

/// An amount as people write it, to the cent.
pub(super) fn dollars(micro_usd: u64) -> String {
    const MICRO_PER_CENT: u64 = 10_000;
    let cents = micro_usd.saturating_add(MICRO_PER_CENT / 2) / MICRO_PER_CENT;
    format!("${}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(mut rendering: Rendering, chunks: &[&[u8]]) -> String {
        let mut out: Vec<u8> = Vec::new();
        for chunk in chunks {
            out.extend(rendering.feed(chunk));
        }
        out.extend(rendering.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_activity_is_one_line() {
        let text = |text: &str| text.to_owned();
        for (activity, expected) in [
            (
                Activity::Said {
                    text: text("a \u{1b}[2J\nb"),
                },
                "said    a \\x1b[2J…",
            ),
            (
                Activity::ToolStarted {
                    tool: text("Edit"),
                    target: text("/home/you/tree/src/a.rs"),
                },
                "tool    Edit src/a.rs",
            ),
            (
                Activity::ToolStarted {
                    tool: text("Bash"),
                    target: text("cat <<END\nEND"),
                },
                "tool    Bash cat <<END…",
            ),
            (
                Activity::ToolEnded {
                    tool: text("Bash"),
                    ok: true,
                },
                "done    Bash",
            ),
            (
                Activity::ToolEnded {
                    tool: String::new(),
                    ok: false,
                },
                "failed",
            ),
            (
                Activity::Edited {
                    path: text("/home/you/tree/src/a.rs"),
                },
                "edited  src/a.rs",
            ),
            (
                Activity::Edited {
                    path: text("/home/you/treetop/a.rs"),
                },
                "edited  /home/you/treetop/a.rs",
            ),
            (
                Activity::Planned {
                    text: text("1 of 2 done: b"),
                },
                "planned 1 of 2 done: b",
            ),
            (
                Activity::Used {
                    tokens: Some(1200),
                    cost_micro_usd: Some(1_234_567),
                },
                "used    1200 tokens, $1.23",
            ),
            (
                Activity::Troubled {
                    why: text("rate_limit"),
                },
                "trouble rate_limit",
            ),
        ] {
            assert_eq!(brief(&activity, "/home/you/tree"), expected);
        }
    }

    #[test]
    fn a_stream_is_rendered_as_it_comes() {
        let codex =
            br#"{"type":"item.completed","item":{"type":"agent_message","text":"One.\n\nTwo."}}"#;
        let (first, second) = codex.split_at(30);
        assert_eq!(
            rendered(
                Rendering::of_agent(Kind::Codex, String::new()),
                &[first, second]
            ),
            "said    One.\n\n        Two.\n"
        );
        let words: [&[u8]; 3] = [b"caf\xc3", b"\xa9 \x1b[2J\n", b"\xff\xff"];
        assert_eq!(
            rendered(Rendering::of_agent(Kind::Command, String::new()), &words),
            "café \\x1b[2J\n\u{fffd}\u{fffd}"
        );
        let mut raw = Rendering::raw();
        assert_eq!(raw.feed(b"\xff\x1b"), b"\xff\x1b");
        let mut cut = Rendering::of_agent(Kind::Codex, String::new());
        assert_eq!(cut.feed(&codex[..40]), b"");
        let told = cut.skip(7);
        let told = String::from_utf8_lossy(&told);
        assert!(told.ends_with("\n[7 bytes are missing here]\n"), "{told}");
    }
}
