//! `loopwright logs -f`: what agents and checks do and print, as it comes, until the loop is over.

use std::time::Duration;

use home::{Home, Loaded, Redacting, Redactor};
use journal::Journal;
use sandbox::{Piece, Stream};

use super::hiding::redactor_of;
use super::lookup::{catch_up, load};
use super::rendering::Rendering;
use super::trace::{Trace, Wanted, traces};
use crate::failure::{Exit, Failure};
use crate::output::Output;

const REST: Duration = Duration::from_millis(100);

/// Bytes that are taken at once from one stream, so that one that talks much does not hide the
/// others.
const CHUNK_BYTES: u64 = 256 * 1024;

/// How far a run has been shown.
struct Shown {
    id: String,
    streams: [Following; 2],
    is_over: bool,
}

/// How far one stream has been read.
struct Following {
    stream: Stream,
    offset: u64,
    /// Made when the first bytes come: only then is all known that it needs.
    rendering: Option<Rendering>,
    /// Comes before it: a secret may be in two pieces of the stream.
    redacting: Redacting,
}

/// What was shown so far, and of which run the last line is.
struct Screen {
    runs: Vec<Shown>,
    last: String,
    redactor: Redactor,
}

/// Shows everything from the beginning; the caller has asked for text.
pub(super) fn follow(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    wanted: &Wanted<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut screen = Screen {
        runs: Vec::new(),
        last: String::new(),
        redactor: redactor_of(home, loop_id),
    };
    let mut loaded = load(journal, loop_id)?;
    let mut all = traces(home, &loaded);
    loop {
        let is_over = loaded.state.ended().is_some();
        let mut is_quiet = true;
        for trace in all.iter().filter(|trace| wanted.fits(trace)) {
            is_quiet &= !screen.show(trace, wanted, output)?;
        }
        if is_over && is_quiet {
            return Ok(());
        }
        if is_quiet {
            std::thread::sleep(REST);
        }
        if has_news(journal, loop_id, &loaded)? {
            catch_up(&mut loaded, journal, loop_id)?;
            all = traces(home, &loaded);
        }
    }
}

/// Whether something was recorded since. A loop that was removed or set apart will never have news,
/// which is said. While nobody writes, nothing is read.
pub(super) fn has_news(journal: &Journal, loop_id: &str, loaded: &Loaded) -> Result<bool, Failure> {
    let unreadable = |error| Failure::environment("cannot read the journal", &error);
    let row = journal.row(loop_id).map_err(unreadable)?;
    let Some(row) = row else {
        return Err(Failure::bad_input(format!("loop {loop_id} was removed")));
    };
    match row.quarantine {
        Some(why) => Err(Failure {
            exit: Exit::Environment,
            message: format!("loop {loop_id} was set apart: {why}"),
            hints: vec![format!("`loopwright nuke {loop_id}` removes it")],
        }),
        None => Ok(row.last > loaded.last),
    }
}

impl Screen {
    /// Shows what is new of one run; says whether there was anything.
    fn show(
        &mut self,
        trace: &Trace,
        wanted: &Wanted<'_>,
        output: &mut Output,
    ) -> Result<bool, Failure> {
        let index = self.index_of(trace);
        if self.runs[index].is_over {
            return Ok(false);
        }
        // Known before the files are looked at: nothing is written after the end, so an empty look
        // is the last one.
        let is_over = trace.outcome.is_some();
        let mut is_new = false;
        loop {
            let mut is_empty = true;
            for following in &mut self.runs[index].streams {
                let Some(bytes) = following.next(trace, wanted) else {
                    continue;
                };
                is_empty = false;
                put(&bytes, trace, &mut self.last, output)?;
            }
            is_new |= !is_empty;
            if is_empty || !is_over {
                break;
            }
        }
        if is_over {
            self.end(index, trace, output)?;
        }
        Ok(is_new || is_over)
    }

    fn index_of(&mut self, trace: &Trace) -> usize {
        let known = self.runs.iter().position(|one| one.id == trace.id);
        known.unwrap_or_else(|| {
            let streams = [Stream::Stdout, Stream::Stderr].map(|stream| Following {
                stream,
                offset: 0,
                rendering: None,
                redacting: self.redactor.stream(),
            });
            self.runs.push(Shown {
                id: trace.id.clone(),
                streams,
                is_over: false,
            });
            self.runs.len() - 1
        })
    }

    fn end(&mut self, index: usize, trace: &Trace, output: &mut Output) -> Result<(), Failure> {
        self.runs[index].is_over = true;
        for following in &mut self.runs[index].streams {
            if let Some(mut rendering) = following.rendering.take() {
                let mut rest = rendering.feed(&following.redacting.finish());
                rest.extend(rendering.finish());
                put(&rest, trace, &mut self.last, output)?;
            }
        }
        output.data(&format!("==== {} ({})\n", trace.key, trace.ended()))?;
        self.last.clear();
        Ok(())
    }
}

/// Prints what is new of a run, below its heading.
fn put(bytes: &[u8], trace: &Trace, last: &mut String, output: &mut Output) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    if *last != trace.id {
        output.data(&format!("==== {}\n", trace.key))?;
        last.clone_from(&trace.id);
    }
    output.bytes(bytes)
}

impl Following {
    /// What is new, rendered, which may be nothing yet. None if there is nothing new.
    fn next(&mut self, trace: &Trace, wanted: &Wanted<'_>) -> Option<Vec<u8>> {
        let piece = sandbox::output_from(&trace.folder, self.stream, self.offset, CHUNK_BYTES);
        // A run that was never begun has no folder, and one that was removed has none any more.
        let Piece { from, bytes } = piece.ok().flatten()?;
        let rendering = self
            .rendering
            .get_or_insert_with(|| wanted.rendering(trace, self.stream));
        let mut out = Vec::new();
        if from > self.offset {
            out.extend(rendering.feed(&self.redacting.finish()));
            out.extend(rendering.skip(from - self.offset));
        }
        self.offset = from + bytes.len() as u64;
        out.extend(rendering.feed(&self.redacting.push(&bytes)));
        Some(out)
    }
}
