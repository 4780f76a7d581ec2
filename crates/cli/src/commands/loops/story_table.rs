//! The stories of a loop as `status` shows them.

use views::StoryView;

use super::story_text::NEEDS_REVIEW;
use crate::table::{Cell, Fit, Table};
use crate::words::duration;

/// Lines of a story's reason that are shown; a whole log may be one.
const REASON_LINES_MAX: usize = 40;

/// The stories, each with the reason that it ended so: beside it, or below it where that takes several
/// lines.
pub(super) fn story_table(stories: &[StoryView]) -> Table {
    let mut table = Table::new(&[
        ("status", Fit::Whole),
        ("story", Fit::Whole),
        ("title", Fit::Cut),
        ("commit", Fit::Whole),
        ("attempts", Fit::Whole),
        ("took", Fit::Spare),
        ("why", Fit::Cut),
    ])
    .indented("  ");
    for story in stories {
        // A story that nobody tried was set aside by a person.
        let is_given_up = story.status == "skipped" && story.attempts > 0;
        let detail = detail_of(story);
        let (beside, below) = match detail.trim_end() {
            "" if is_given_up => ("", shown_below(NEEDS_REVIEW)),
            reason if is_given_up => {
                let between = if reason.contains('\n') { '\n' } else { ' ' };
                (
                    "",
                    shown_below(&format!("{NEEDS_REVIEW}:{between}{reason}")),
                )
            }
            line if !line.contains('\n') => (line, String::new()),
            reason => ("", shown_below(reason)),
        };
        let commit = story.commit_sha.as_deref().unwrap_or_default();
        let attempts = match story.attempts {
            0 | 1 => String::new(),
            several => format!("{several} attempts"),
        };
        let took = story.duration_ms.map(duration);
        let cells = vec![
            Cell::state(story.status),
            Cell::new(&story.id),
            Cell::new(&story.title),
            Cell::new(commit.get(..12).unwrap_or(commit)),
            Cell::new(attempts),
            Cell::new(took.unwrap_or_default()),
            Cell::new(beside),
        ];
        table.row_with(cells, below);
    }
    table
}

/// What a story is doing and what it is held up by.
pub(super) fn detail_of(story: &StoryView) -> String {
    match story.halted {
        Some(halted) => format!("{}, {halted}", story.detail),
        None => story.detail.clone(),
    }
}

/// A reason of several lines, below the story's own.
fn shown_below(reason: &str) -> String {
    const MARGIN: &str = "           ";
    let n_more = reason.lines().count().saturating_sub(REASON_LINES_MAX);
    let lines = reason.lines().take(REASON_LINES_MAX);
    let mut out: String = lines
        .map(|line| format!("{MARGIN}{line}").trim_end().to_owned() + "\n")
        .collect();
    if n_more > 0 {
        out.push_str(&format!(
            "{MARGIN}… and {n_more} more lines; `loopwright story` shows them\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Paper;

    fn story(detail: &str) -> StoryView {
        StoryView {
            halted: None,
            queue_place: None,
            id: "one".to_owned(),
            title: "One".to_owned(),
            status: "skipped",
            detail: detail.to_owned(),
            attempts: 2,
            commit_sha: None,
            duration_ms: None,
            tokens: None,
            cost_usd: None,
        }
    }

    #[test]
    fn a_reason_is_shown_to_its_end() {
        let paper = Paper {
            columns: None,
            colours: false,
        };
        let line = |detail: &str| story_table(&[story(detail)]).draw(paper);
        assert_eq!(
            line(""),
            "  skipped  one  One  2 attempts\n           NEEDS HUMAN REVIEW\n"
        );
        assert_eq!(
            line("no room\n"),
            "  skipped  one  One  2 attempts\n           NEEDS HUMAN REVIEW: no room\n"
        );
        assert_eq!(
            line("it fails:\n\n  left: 1\n  right: 2\n"),
            "  skipped  one  One  2 attempts\n           NEEDS HUMAN REVIEW:\n           it fails:\n\n             left: 1\n             right: 2\n"
        );
        let long = line(&"again\n".repeat(100));
        assert_eq!(long.matches("again").count(), REASON_LINES_MAX - 1);
        assert!(
            long.ends_with("           … and 61 more lines; `loopwright story` shows them\n"),
            "{long}"
        );
    }
}
