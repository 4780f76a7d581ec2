//! Tables whose rows are stories: one column says the state, or the rows begin with task ids.

use std::collections::HashSet;
use std::ops::Range;

use super::label::{self, IdKind};
use super::lines::Kind;
use super::outline::Outline;
use super::seat::Seat;
use super::words::{NEEDS, STATUS, bare_word, state_of, strip_prefix_any_case};

/// A table of stories.
#[derive(Debug)]
pub(super) struct Table {
    /// For every row its cells, as places in the file.
    pub(super) rows: Vec<Vec<Range<usize>>>,
    pub(super) columns: Columns,
    /// Whether the rows begin with task ids.
    pub(super) has_task_ids: bool,
}

/// Which column says what.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns {
    pub(super) id: Option<usize>,
    pub(super) title: usize,
    pub(super) status: Option<usize>,
    pub(super) needs: Option<usize>,
}

/// The tables of a text that hold stories.
pub(super) fn tables(outline: &Outline<'_>) -> Vec<Table> {
    let mut found = Vec::new();
    let mut rows: Vec<Vec<Range<usize>>> = Vec::new();
    let mut texts: Vec<Vec<&str>> = Vec::new();
    for line in &outline.lines {
        if line.kind == Kind::Row {
            let cells = cells(line.text);
            texts.push(cells.iter().map(|cell| &line.text[cell.clone()]).collect());
            let placed = cells
                .into_iter()
                .map(|cell| cell.start + line.start..cell.end + line.start);
            rows.push(placed.collect());
        } else if !rows.is_empty() {
            found.extend(table(
                std::mem::take(&mut rows),
                &std::mem::take(&mut texts),
            ));
        }
    }
    found.extend(table(rows, &texts));
    found
}

/// The cells of a row, without the blanks around their words.
fn cells(row: &str) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = None;
    let mut escaped = false;
    for (at, letter) in row.char_indices() {
        if letter == '|' && !escaped {
            if let Some(start) = start {
                cells.push(trimmed(row, start..at));
            }
            start = Some(at + 1);
        }
        escaped = letter == '\\' && !escaped;
    }
    match start {
        Some(start) if !row[start..].trim().is_empty() => {
            cells.push(trimmed(row, start..row.len()));
        }
        _ => {}
    }
    cells
}

fn trimmed(row: &str, cell: Range<usize>) -> Range<usize> {
    let text = &row[cell.clone()];
    // An empty cell is filled behind its first blank.
    if text.trim().is_empty() {
        let start = cell.start + text.chars().next().map_or(0, char::len_utf8);
        return start..start;
    }
    let start = cell.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// Rows below a header and a line of dashes. `None` if they are no stories.
fn table(rows: Vec<Vec<Range<usize>>>, texts: &[Vec<&str>]) -> Option<Table> {
    let [header, dashes, body @ ..] = texts else {
        return None;
    };
    let is_line = dashes
        .iter()
        .all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
    if !is_line || body.is_empty() {
        return None;
    }
    let column = |words: &[&str]| {
        header.iter().position(|cell| {
            let cell = bare_word(cell);
            words
                .iter()
                .any(|word| strip_prefix_any_case(cell, word).is_some())
        })
    };
    let has_task_id = |row: &Vec<&str>| {
        let first = row.first().map(|cell| label::item_label(cell));
        first.and_then(|label| label.kind()) == Some(IdKind::Task)
    };
    let ids = body.iter().filter(|row| has_task_id(row)).count();
    let status = column(STATUS).filter(|column| {
        let words = || body.iter().filter_map(|row| row.get(*column));
        let known = words().filter(|cell| state_of(cell).is_some()).count();
        // A table that begins with the states and has each of them once explains them.
        let different: HashSet<&&str> = words().collect();
        let explains = *column == 0 && different.len() == body.len();
        known * 2 >= body.len() && !explains
    });
    let has_ids = ids * 2 > body.len();
    if status.is_none() && !has_ids {
        return None;
    }
    // The first column that is not the state is the story; an id has its title beside it.
    let is_code = |row: &Vec<&str>| {
        row.first().is_some_and(|cell| {
            let found = label::item_label(cell);
            found.id.is_some() && found.title.is_empty() || cell.chars().all(|c| c.is_ascii_digit())
        })
    };
    let id = (body.iter().filter(|row| is_code(row)).count() * 2 > body.len()).then_some(0);
    let free = |column: &usize| Some(*column) != status && Some(*column) != id;
    let title = (0..header.len()).find(free).unwrap_or(0);
    Some(Table {
        rows: rows
            .into_iter()
            .skip(2)
            .filter(|row| row.len() > title)
            .collect(),
        has_task_ids: has_ids,
        columns: Columns {
            id,
            title,
            status,
            needs: column(NEEDS),
        },
    })
}

/// The rows of all tables.
pub(super) fn seats(tables: &[Table]) -> Vec<Seat> {
    let rows = |(index, table): (usize, &Table)| {
        (0..table.rows.len())
            .map(move |row| Seat::Row(index, row))
            .collect::<Vec<_>>()
    };
    tables.iter().enumerate().flat_map(rows).collect()
}
