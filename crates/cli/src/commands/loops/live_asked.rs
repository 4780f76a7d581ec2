//! A question in the live view.

use super::live_paper::{Colour, Screen, cut};
use crate::words::visible;
use crate::wrapping::wrapped;

#[derive(Debug, Clone, Default)]
pub(super) struct LiveQuestion {
    pub(super) story: String,
    pub(super) text: String,
    /// The command that answers it.
    pub(super) command: String,
}

/// On a screen narrower than that a margin would take too much room.
const COLUMNS_FOR_MARGIN: usize = 40;

/// A question, which may take several lines, and the command that answers it, which is never cut. A
/// question that would push everything else off the screen ends with an ellipsis; it is whole where the
/// watching ends.
pub(super) fn asked(question: &LiveQuestion, n_questions: usize, screen: Screen) -> Vec<String> {
    let has_margin = screen.columns >= COLUMNS_FOR_MARGIN;
    // The command begins further to the left, so that it fits into one line where it can.
    let (margin, of_command) = if has_margin { (9, 2) } else { (0, 0) };
    let columns = screen.columns.saturating_sub(margin);
    let lines_max = (screen.rows / 2 / n_questions.max(1)).max(2);
    let text = visible(&format!("{}: {}", question.story, question.text));
    let mut lines = wrapped(&text, columns);
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), columns);
        }
    }
    let mut all: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let title = if at == 0 && has_margin { "asks" } else { "" };
        all.push(format!("{title:<margin$}{line}"));
    }
    let command = wrapped(&question.command, screen.columns.saturating_sub(of_command));
    all.extend(
        command
            .iter()
            .map(|line| format!("{:of_command$}{line}", "")),
    );
    let painted = all.iter();
    painted
        .map(|line| screen.painted(Colour::Magenta, line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, columns: usize, rows: usize) -> String {
        let question = LiveQuestion {
            story: "mul".to_owned(),
            text: text.to_owned(),
            command: "loopwright answer 01J00000000000000000000000 --story mul retry|skip|cancel"
                .to_owned(),
        };
        let screen = Screen {
            columns,
            rows,
            colours: false,
        };
        asked(&question, 1, screen).join("\n")
    }

    #[test]
    fn a_long_question_takes_several_lines_and_its_command_is_whole() {
        let text = "the agent `builder` is not logged in; log in with its own command, and answer \
                    retry\nIt said: 401";
        assert_eq!(
            drawn(text, 80, 24),
            "asks     mul: the agent `builder` is not logged in; log in with its own command,\n         \
             and answer retry\n         It said: 401\n  \
             loopwright answer 01J00000000000000000000000 --story mul retry|skip|cancel"
        );
        let narrow = drawn(text, 48, 24);
        let command =
            "  loopwright answer 01J00000000000000000000000\n  --story mul retry|skip|cancel";
        assert!(narrow.ends_with(command), "{narrow}");
    }

    #[test]
    fn a_question_leaves_room_for_the_rest() {
        let text = "word ".repeat(1000);
        let drawn = drawn(&text, 80, 24);
        assert_eq!(drawn.lines().count(), 13, "{drawn}");
        assert!(
            drawn.lines().all(|line| line.chars().count() <= 80),
            "{drawn}"
        );
        assert!(
            drawn.contains('…') && drawn.ends_with("retry|skip|cancel"),
            "{drawn}"
        );
    }
}
