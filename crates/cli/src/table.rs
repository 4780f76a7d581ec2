//! Tables for people: aligned columns, as wide as a terminal, coloured where colours are wanted.
//!
//! Where nobody knows how wide the paper is, as in a pipe, there are no headings and nothing is cut: a
//! line is a record that other programs may read.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Between two columns.
const GAP: &str = "  ";

/// A column that is cut keeps at least so much.
const CUT_COLUMNS_MIN: usize = 8;

/// As long as a column that may be cut cannot have so much, what can be spared is left out.
const CUT_COLUMNS_WANTED: usize = 20;

/// What a table is drawn on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paper {
    /// How many columns fit; none where nobody knows.
    pub(crate) columns: Option<usize>,
    pub(crate) colours: bool,
}

/// How a column takes its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is shown whole: somebody may want to copy it.
    Whole,
    /// Its end may be cut.
    Cut,
    /// Its beginning may be cut: the end of a path says more.
    Path,
    /// It is left out where there is not enough room.
    Spare,
    /// It is shown whole, at the right: numbers.
    Right,
}

impl Fit {
    fn may_be_cut(self) -> bool {
        matches!(self, Self::Cut | Self::Path)
    }
}

/// A colour, which never says anything that the words do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    None,
    Good,
    Bad,
    /// Somebody or something is waited for.
    Waiting,
    /// It is under way.
    Going,
    Faint,
}

impl Tint {
    /// The tint of a loop's, a story's or a run's word.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "completed" | "passed" | "green" | "worked" | "reviewed" | "ruled" => Self::Good,
            "failed" | "rejected" | "red" | "bad-answer" | "quarantined" => Self::Bad,
            "waiting" | "needs_human" | "paused" | "skipped" | "blocked" | "put-off" | "asks" => {
                Self::Waiting
            }
            "running" => Self::Going,
            "cancelled" | "pending" | "stopped" | "interrupted" => Self::Faint,
            _ => Self::None,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Good => "\u{1b}[32m",
            Self::Bad => "\u{1b}[31m",
            Self::Waiting => "\u{1b}[33m",
            Self::Going => "\u{1b}[36m",
            Self::Faint => "\u{1b}[2m",
        }
    }
}

/// One cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tint: Tint,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tint: Tint::None,
        }
    }

    /// A word in its colour.
    pub(crate) fn state(word: &str) -> Self {
        Self::tinted(word, Tint::of(word))
    }

    pub(crate) fn tinted(text: impl Into<String>, tint: Tint) -> Self {
        Self {
            text: text.into(),
            tint,
        }
    }
}

/// Columns and rows.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Fit)>,
    rows: Vec<(Vec<Cell>, String)>,
    /// What stands before each line.
    margin: &'static str,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Fit)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
            margin: "",
        }
    }

    /// The same, further to the right.
    pub(crate) fn indented(mut self, margin: &'static str) -> Self {
        self.margin = margin;
        self
    }

    /// A row; the last cell of one that has fewer cells than there are columns takes all the room that
    /// is left.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.row_with(cells, String::new());
    }

    /// A row with whole lines below it.
    pub(crate) fn row_with(&mut self, cells: Vec<Cell>, below: String) {
        self.rows.push((cells, below));
    }

    pub(crate) fn draw(&self, paper: Paper) -> String {
        let with_headings = paper.columns.is_some() && !self.rows.is_empty();
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let whole = |cells: &&Vec<Cell>| cells.len() == self.columns.len();
                let cells = self.rows.iter().filter_map(|(cells, _)| {
                    let is_column = at + 1 < cells.len() || whole(&cells);
                    cells.get(at).filter(|_| is_column)
                });
                let widest = cells.map(|cell| cell.text.width()).max().unwrap_or(0);
                if widest == 0 {
                    // A column that says nothing has no heading either.
                    return 0;
                }
                let heading = if with_headings {
                    self.columns[at].0.width()
                } else {
                    0
                };
                widest.max(heading)
            })
            .collect();
        if let Some(columns) = paper.columns {
            self.spare(&mut widths, columns);
            self.shrink(&mut widths, columns);
        }
        let mut out = String::new();
        if with_headings {
            let heading = |(name, _): &(&str, Fit)| Cell::tinted(*name, Tint::Faint);
            let headings: Vec<Cell> = self.columns.iter().map(heading).collect();
            out.push_str(&self.line(&headings, &widths, paper));
        }
        for (cells, below) in &self.rows {
            out.push_str(&self.line(cells, &widths, paper));
            out.push_str(below);
        }
        out
    }

    /// What the columns take together.
    fn needed(&self, widths: impl Iterator<Item = usize>) -> usize {
        let shown: Vec<usize> = widths.filter(|width| *width > 0).collect();
        let gaps = shown.len().saturating_sub(1) * GAP.len();
        shown.iter().sum::<usize>() + gaps + self.margin.len()
    }

    /// Leaves out what can be spared, the last first, until the others have the room that they want.
    fn spare(&self, widths: &mut [usize], columns: usize) {
        let spares: Vec<usize> = (0..widths.len())
            .filter(|at| self.columns[*at].1 == Fit::Spare)
            .collect();
        for at in spares.into_iter().rev() {
            let wanted = widths.iter().zip(&self.columns).map(|(width, (_, fit))| {
                let most = if fit.may_be_cut() {
                    CUT_COLUMNS_WANTED
                } else {
                    *width
                };
                (*width).min(most)
            });
            if self.needed(wanted) > columns {
                widths[at] = 0;
            }
        }
    }

    /// Takes what is too much from the columns that may be cut, the widest first.
    fn shrink(&self, widths: &mut [usize], columns: usize) {
        loop {
            let excess = self.needed(widths.iter().copied()).saturating_sub(columns);
            let cuttable = (0..widths.len())
                .filter(|at| self.columns[*at].1.may_be_cut() && widths[*at] > CUT_COLUMNS_MIN);
            let Some(widest) = cuttable.max_by_key(|at| widths[*at]).filter(|_| excess > 0) else {
                return;
            };
            // The others are asked only when this one has come down to them.
            let next = (0..widths.len())
                .filter(|at| self.columns[*at].1.may_be_cut() && *at != widest)
                .map(|at| widths[at])
                .filter(|width| *width < widths[widest])
                .max()
                .unwrap_or(0)
                .max(CUT_COLUMNS_MIN);
            let least = next.min(widths[widest] - 1);
            widths[widest] = (widths[widest].saturating_sub(excess)).max(least);
        }
    }

    fn line(&self, cells: &[Cell], widths: &[usize], paper: Paper) -> String {
        let mut line = self.margin.to_owned();
        // Room that is only taken if something follows it, and columns that are taken.
        let (mut owed, mut taken) = (String::new(), self.margin.len());
        for (at, cell) in cells.iter().enumerate() {
            let takes_the_rest = at + 1 == cells.len() && cells.len() < self.columns.len();
            let (fit, mut width) = (self.columns[at].1, widths[at]);
            if takes_the_rest {
                let left = paper.columns.map(|columns| columns.saturating_sub(taken));
                width = left.unwrap_or(usize::MAX).min(cell.text.width());
            }
            if width == 0 {
                continue;
            }
            let text = match (paper.columns, fit) {
                (None, _) => cell.text.clone(),
                (Some(_), Fit::Path) => cut_front(&cell.text, width),
                (Some(_), _) => cut(&cell.text, width),
            };
            let room = " ".repeat(width.saturating_sub(text.width()));
            if fit == Fit::Right {
                owed.push_str(&room);
            }
            if !text.is_empty() {
                line.push_str(&owed);
                owed.clear();
                line.push_str(&painted(&text, cell.tint, paper));
            }
            if fit != Fit::Right {
                owed.push_str(&room);
            }
            owed.push_str(GAP);
            taken += width + GAP.len();
        }
        line + "\n"
    }
}

/// A text in a colour, where colours are wanted.
pub(crate) fn painted(text: &str, tint: Tint, paper: Paper) -> String {
    if !paper.colours || tint == Tint::None {
        return text.to_owned();
    }
    format!("{}{text}\u{1b}[0m", tint.code())
}

/// A text that takes no more columns than these; an ellipsis says that there is more.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut kept, mut taken) = (String::new(), 1);
    for letter in text.chars() {
        taken += letter.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

/// The same for a text whose end says more.
fn cut_front(text: &str, columns: usize) -> String {
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    if text.width() <= columns {
        return text.to_owned();
    }
    reversed(&cut(&reversed(text), columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[
            ("id", Fit::Whole),
            ("state", Fit::Whole),
            ("size", Fit::Right),
            ("title", Fit::Cut),
            ("project", Fit::Path),
        ]);
        for (id, state, size, title, project) in [
            ("a", "passed", "12 B", "short", "/home/you/shop"),
            ("long-id", "failed", "3 KiB", "日本語のタイトル", "/p"),
            ("c", "odd", "", "", "e\u{301}té"),
        ] {
            table.row(vec![
                Cell::new(id),
                Cell::state(state),
                Cell::new(size),
                Cell::new(title),
                Cell::new(project),
            ]);
        }
        table
    }

    fn drawn(columns: Option<usize>, colours: bool) -> String {
        table().draw(Paper { columns, colours })
    }

    #[test]
    fn columns_are_aligned_also_below_wide_letters() {
        for (columns, expected) in [
            (
                Some(80),
                "id       state    size  title             project\n\
                 a        passed   12 B  short             /home/you/shop\n\
                 long-id  failed  3 KiB  日本語のタイトル  /p\n\
                 c        odd                              e\u{301}té\n",
            ),
            (
                Some(44),
                "id       state    size  title       project\n\
                 a        passed   12 B  short       …ou/shop\n\
                 long-id  failed  3 KiB  日本語の…   /p\n\
                 c        odd                        e\u{301}té\n",
            ),
            (
                None,
                "a        passed   12 B  short             /home/you/shop\n\
                 long-id  failed  3 KiB  日本語のタイトル  /p\n\
                 c        odd                              e\u{301}té\n",
            ),
        ] {
            assert_eq!(drawn(columns, false), expected, "{columns:?}");
        }
    }

    #[test]
    fn a_short_row_ends_with_what_takes_the_rest() {
        let mut table = table();
        table.row(vec![
            Cell::new("d"),
            Cell::state("failed"),
            Cell::new("a bad record, of which there is more to say than fits"),
        ]);
        let last = |columns| {
            let drawn = table.draw(Paper {
                columns,
                colours: false,
            });
            drawn.lines().last().unwrap_or_default().to_owned()
        };
        let whole = "d        failed  a bad record, of which there is more to say than fits";
        assert_eq!(last(None), whole);
        assert_eq!(last(Some(100)), whole);
        assert_eq!(
            last(Some(44)),
            "d        failed  a bad record, of which the…"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_paper_while_anything_can_be_cut() {
        for columns in 42..90 {
            let drawn = drawn(Some(columns), false);
            let widest = drawn
                .lines()
                .map(unicode_width::UnicodeWidthStr::width)
                .max();
            assert!(widest <= Some(columns), "{columns}: {widest:?}\n{drawn}");
        }
    }

    #[test]
    fn colours_change_no_column() {
        let plain = |text: String| {
            let mut kept = String::new();
            for part in text.split('\u{1b}') {
                let shown = part.split_once('m').filter(|_| part.starts_with('['));
                kept.push_str(shown.map_or(part, |(_, shown)| shown));
            }
            kept
        };
        let coloured = drawn(Some(44), true);
        assert!(coloured.contains("\u{1b}[32mpassed\u{1b}[0m"), "{coloured}");
        assert!(coloured.contains("\u{1b}[31mfailed\u{1b}[0m"), "{coloured}");
        assert_eq!(plain(coloured), drawn(Some(44), false));
    }
}
