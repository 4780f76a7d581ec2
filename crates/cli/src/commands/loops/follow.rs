//! `loopwright logs -f`: what agents and checks print, as it comes, until the loop is over.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use home::{Home, Loaded};
use journal::Journal;

use super::lookup::{catch_up, load};
use super::trace::{Trace, Wanted, traces};
use crate::failure::{Exit, Failure};
use crate::output::Output;

const REST: Duration = Duration::from_millis(100);

/// Bytes that are taken at once from one stream, so that one that talks much does not hide the
/// others.
const CHUNK_BYTES: u64 = 256 * 1024;

const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// How far a run has been shown.
struct Shown {
    id: String,
    offsets: [u64; 2],
    is_over: bool,
}

/// Shows everything from the beginning; the caller has asked for text.
pub(super) fn follow(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    wanted: &Wanted<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let (mut shown, mut last): (Vec<Shown>, String) = (Vec::new(), String::new());
    let mut loaded = load(journal, loop_id)?;
    loop {
        let is_over = loaded.state.ended().is_some();
        let mut is_quiet = true;
        for trace in traces(home, &loaded)
            .iter()
            .filter(|trace| wanted.fits(trace))
        {
            is_quiet &= !show(trace, wanted, &mut shown, &mut last, output)?;
        }
        if is_over && is_quiet {
            return Ok(());
        }
        if is_quiet {
            std::thread::sleep(REST);
        }
        if has_news(journal, loop_id, &loaded)? {
            catch_up(&mut loaded, journal, loop_id)?;
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

/// Shows what is new of one run; says whether there was anything.
fn show(
    trace: &Trace,
    wanted: &Wanted<'_>,
    shown: &mut Vec<Shown>,
    last: &mut String,
    output: &mut Output,
) -> Result<bool, Failure> {
    let index = shown
        .iter()
        .position(|one| one.id == trace.id)
        .unwrap_or_else(|| {
            shown.push(Shown {
                id: trace.id.clone(),
                offsets: [0; 2],
                is_over: false,
            });
            shown.len() - 1
        });
    let one = &mut shown[index];
    if one.is_over {
        return Ok(false);
    }
    // Known before the files are looked at: nothing is written after the end, so an empty look is
    // the last one.
    let is_over = trace.outcome.is_some();
    let mut is_new = false;
    loop {
        let mut is_empty = true;
        for (stream, offset) in STREAMS.iter().zip(&mut one.offsets) {
            let text = read_from(&trace.folder.join(stream), offset);
            if !text.is_empty() {
                let heading = if *last == trace.id {
                    String::new()
                } else {
                    format!("==== {}\n", trace.key)
                };
                output.data(&(heading + &wanted.shown(&text)))?;
                last.clone_from(&trace.id);
                is_empty = false;
            }
        }
        is_new |= !is_empty;
        if is_empty || !is_over {
            break;
        }
    }
    if is_over {
        one.is_over = true;
        output.data(&format!("==== {} ({})\n", trace.key, trace.ended()))?;
        last.clear();
    }
    Ok(is_new || is_over)
}

/// What a file has beyond an offset, which moves on. A character that is not whole yet comes whole
/// the next time.
fn read_from(path: &Path, offset: &mut u64) -> String {
    let read = |from: u64| -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(CHUNK_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let mut bytes = read(*offset).unwrap_or_default();
    let half = bytes
        .utf8_chunks()
        .last()
        .map_or(0, |chunk| chunk.invalid().len());
    if half < 4 && half < bytes.len() {
        bytes.truncate(bytes.len() - half);
    }
    *offset += bytes.len() as u64;
    String::from_utf8_lossy(&bytes).into_owned()
}
