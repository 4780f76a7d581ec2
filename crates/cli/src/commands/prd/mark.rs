//! `loopwright prd mark FILE STORY`

use prd::Mark;
use serde_json::json;
use workspace::operator_file;

use crate::args::{MarkState, PrdSource};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::prd_input::Kind;

pub(crate) fn run(
    source: &PrdSource,
    story: &str,
    state: MarkState,
    dry_run: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("prd mark");
    let Some(input) = super::read(source, output)? else {
        return Ok(Exit::BadInput);
    };
    if input.reading.prd.is_none() {
        return super::refuse_unsound(&input, source, output);
    }
    let mark = match state {
        MarkState::Passed => Mark::Passed,
        MarkState::Skipped => Mark::Skipped,
        MarkState::Open => Mark::Open,
    };
    let marked = match prd::mark(&input.reading, story, mark, &input.options) {
        Ok(marked) => marked,
        Err(diagnostic) => return super::refuse(&diagnostic, &input.reading.sources, output),
    };
    let file = &input.reading.sources.files()[marked.file];
    let lines = line_changes(file.text(), &marked.text);
    let name = file.name().to_owned();
    if !lines.is_empty() && !dry_run {
        if input.kind == Kind::Stdin {
            let failure = Failure::bad_input("standard input cannot be written back");
            return Err(failure.hint("name the file, or use `--dry-run`"));
        }
        let replaced =
            operator_file::replace(&input.snapshots[marked.file], marked.text.as_bytes());
        if let Err(diagnostic) = super::written(replaced, &name)? {
            return super::refuse(&diagnostic, &input.reading.sources, output);
        }
    }
    output.data(
        &lines
            .iter()
            .map(|change| change.drawn(&name))
            .collect::<String>(),
    )?;
    let as_json: Vec<_> = lines.iter().map(LineChange::json).collect();
    let written = !dry_run && !lines.is_empty();
    output
        .result(|| json!({ "file": name, "story": story, "written": written, "lines": as_json }))?;
    if lines.is_empty() {
        output.talk(&format!(
            "{name}: `{story}` is {} already\n",
            state_word(state)
        ));
    }
    Ok(Exit::Done)
}

fn state_word(state: MarkState) -> &'static str {
    match state {
        MarkState::Passed => "passed",
        MarkState::Skipped => "skipped",
        MarkState::Open => "open",
    }
}

/// One line before and after; an added line has no before.
struct LineChange {
    line_number: usize,
    old: Option<String>,
    new: String,
}

impl LineChange {
    fn drawn(&self, name: &str) -> String {
        let clean = |line: &str| {
            line.chars()
                .map(|letter| {
                    if letter.is_control() && letter != '\t' {
                        '\u{FFFD}'
                    } else {
                        letter
                    }
                })
                .collect::<String>()
        };
        let old = self
            .old
            .as_ref()
            .map(|old| format!("- {}\n", clean(old)))
            .unwrap_or_default();
        format!("{name}:{}\n{old}+ {}\n", self.line_number, clean(&self.new))
    }

    fn json(&self) -> serde_json::Value {
        json!({ "line": self.line_number, "old": self.old, "new": self.new })
    }
}

/// The lines that differ. Marking replaces lines or adds some, so walking both texts together finds
/// them.
fn line_changes(old: &str, new: &str) -> Vec<LineChange> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut changes = Vec::new();
    let (mut before, mut after) = (0, 0);
    while after < new.len() {
        let remaining = (old.len() - before, new.len() - after);
        if old.get(before) == new.get(after) && remaining.0 > 0 {
            before += 1;
        } else if remaining.1 > remaining.0 && old.get(before) == new.get(after + 1) {
            changes.push(LineChange {
                line_number: after + 1,
                old: None,
                new: new[after].to_owned(),
            });
        } else {
            let old = old.get(before).map(|line| (*line).to_owned());
            before += usize::from(old.is_some());
            changes.push(LineChange {
                line_number: after + 1,
                old,
                new: new[after].to_owned(),
            });
        }
        after += 1;
    }
    changes
}
