//! Makes the graph of a work tree anew from its tickets, under the store's lock.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use home::PrdFile;
use prd::Prd;
use workspace::operator_file;

use crate::error::{BadGraph, TaskError};
use crate::refresh::{Refreshed, graph_text};
use crate::store::{Tasks, read_plan};

impl Tasks {
    /// Makes the graph anew from a folder of tickets. Nothing is written if the tickets are wrong.
    pub fn refresh(&self, tickets: &Path) -> Result<(Refreshed, PrdFile), TaskError> {
        let _lock = self.lock()?;
        let mut file = read_plan(tickets)?;
        let wrong = |file| TaskError::BadGraph(BadGraph::Wrong(Box::new(file)));
        let plan = match file.reading.prd.take() {
            // A dependency on a ticket that is not there would never be waited for.
            Some(plan) if plan.outside.is_empty() => plan,
            _ => return Err(wrong(file)),
        };
        let board = self.board(&plan, &self.claims()?);
        let target = &self.place().graph;
        let old = match operator_file::read(target, prd::limits::FILE_BYTES_MAX) {
            Ok(snapshot) => Some(snapshot),
            Err(operator_file::FileError::Missing) => None,
            Err(error) => return Err(io("read", target, error)),
        };
        let text = old.as_ref().map(|old| String::from_utf8_lossy(old.bytes()));
        let paths = self.ticket_paths(&plan, &file);
        let made = graph_text(text.as_deref(), &plan, &board, target, &paths);
        match old {
            Some(old) if old.bytes() == made.text.as_bytes() => {}
            Some(old) => operator_file::replace(&old, made.text.as_bytes())
                .map_err(|error| io("write", target, error))?,
            None => fs::write(target, &made.text).map_err(|source| TaskError::Io {
                attempt: "write",
                path: target.clone(),
                source,
            })?,
        }
        Ok((made, file))
    }

    /// The file of each ticket, below the top of the work tree. The reader keeps tickets in the order
    /// of their files, without those that it passed over.
    fn ticket_paths(&self, plan: &Prd, file: &PrdFile) -> BTreeMap<String, String> {
        let mut paths = BTreeMap::new();
        for source in file.reading.sources.files() {
            let name = Path::new(source.name());
            let below = name.strip_prefix(&self.place().root).unwrap_or(name);
            let stem = name.file_stem().unwrap_or_default().to_string_lossy();
            let of = plan.stories.iter().map(|story| story.id.as_str());
            // Tickets are called by their ids, with or without words behind.
            let mut of: Vec<&str> = of.filter(|id| stem.starts_with(id)).collect();
            of.sort_by_key(|id| std::cmp::Reverse(id.len()));
            if let Some(id) = of.first() {
                paths.insert((*id).to_owned(), below.display().to_string());
            }
        }
        paths
    }
}

fn io(attempt: &'static str, path: &Path, error: operator_file::FileError) -> TaskError {
    TaskError::Io {
        attempt,
        path: path.to_owned(),
        source: std::io::Error::other(error),
    }
}
