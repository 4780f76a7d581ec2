//! What `--help` shows: verbs in groups, examples for those that one uses most, all of it as wide as the
//! terminal.

use clap::Command;
use unicode_width::UnicodeWidthStr as _;

use crate::output::{is_coloured, terminal_columns};

/// Wider text is hard to read, and so narrow a terminal has other troubles.
const COLUMNS_MAX: usize = 100;
const COLUMNS_MIN: usize = 40;

/// Every verb that people have, by what they want to do.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Begin", &["init", "doctor", "start", "ralph", "demo"]),
    (
        "Look",
        &[
            "status", "list", "watch", "report", "story", "diff", "checkout", "runs", "run",
            "logs", "events",
        ],
    ),
    (
        "Steer",
        &[
            "pause", "resume", "answer", "retry", "skip", "accept", "take", "cancel", "send",
        ],
    ),
    ("Tidy up", &["clean", "nuke"]),
    ("PRDs and tasks", &["prd", "task"]),
    (
        "Machines",
        &["agents", "config", "worker", "service", "serve"],
    ),
    ("Reference", &["explain", "schema", "completions", "man"]),
];

/// Verbs with what one types most. The first of each is the plainest.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "start",
        &[
            ("loopwright start prd.json", "start a loop, and go away"),
            ("loopwright start prd.json --foreground", "stay and watch"),
            ("loopwright start prd.json --dry-run", "only see the plan"),
            (
                "loopwright start prd.json --flow tdd --set budget.usd=5",
                "tests first, at most $5",
            ),
        ],
    ),
    (
        "status",
        &[
            ("loopwright status", "what is live, and what ended last"),
            ("loopwright status 3k3y", "one loop, by the end of its id"),
        ],
    ),
    (
        "story",
        &[
            ("loopwright story us-2", "of the newest loop here"),
            (
                "loopwright story 3k3y us-2 --markdown",
                "for a pull request",
            ),
        ],
    ),
    (
        "diff",
        &[
            (
                "loopwright diff",
                "everything that the newest loop here accepted",
            ),
            (
                "loopwright diff us-2 --attempt 1",
                "what was rejected at first",
            ),
        ],
    ),
    (
        "runs",
        &[
            ("loopwright runs", "the newest runs of all loops"),
            (
                "loopwright runs --role judge --outcome rejected",
                "what judges refused",
            ),
            ("loopwright runs 3k3y", "all runs of one loop"),
        ],
    ),
    (
        "logs",
        &[
            ("loopwright logs -f", "follow the newest loop here"),
            (
                "loopwright logs --story us-2 --role check --tail 40",
                "how the checks of a story ended",
            ),
        ],
    ),
    (
        "answer",
        &[
            (
                "loopwright answer retry",
                "one of the choices that `status` shows",
            ),
            ("loopwright answer 3k3y \"use tabs\"", "your own words"),
        ],
    ),
    (
        "retry",
        &[
            (
                "loopwright retry 3k3y us-2 --hint \"reuse parse()\"",
                "with a word for the implementor",
            ),
            (
                "loopwright retry 3k3y us-2 --agent claude --flow tdd",
                "somebody else, tests first",
            ),
        ],
    ),
    (
        "accept",
        &[(
            "loopwright accept 3k3y us-2 --reason \"the test is wrong\"",
            "your word against the checks'",
        )],
    ),
    (
        "take",
        &[
            ("loopwright take 3k3y us-2", "a work tree to commit in"),
            (
                "loopwright take 3k3y us-2 --done",
                "have it checked and judged",
            ),
        ],
    ),
    (
        "nuke",
        &[
            ("loopwright nuke dead --dry-run", "see what would go"),
            ("loopwright nuke 3k3y", "one loop that is over"),
        ],
    ),
    (
        "config",
        &[(
            "loopwright config show",
            "every value, and where it comes from",
        )],
    ),
    (
        "prd",
        &[
            (
                "loopwright prd check prd.json",
                "whether a loop could start from it",
            ),
            (
                "loopwright prd fmt prd.json --write",
                "bring it into its canonical form",
            ),
        ],
    ),
];

/// The program with its help as people shall see it.
pub(crate) fn dressed(program: Command) -> Command {
    let columns = terminal_columns().unwrap_or(COLUMNS_MAX);
    let columns = columns.clamp(COLUMNS_MIN, COLUMNS_MAX);
    let groups = groups(&program, columns, is_coloured());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    );
    EXAMPLES
        .iter()
        .fold(program, |program, (verb, examples)| {
            program.mut_subcommand(verb, |verb| verb.after_help(example_lines(examples)))
        })
        .help_template(template)
        .after_help("`loopwright VERB --help` says more about a verb.")
        .term_width(columns)
}

/// The verbs below the headings of their groups.
fn groups(program: &Command, columns: usize, colours: bool) -> String {
    let mut out = String::new();
    for (title, verbs) in GROUPS {
        let heading = if colours {
            format!("\u{1b}[1m{title}:\u{1b}[0m\n")
        } else {
            format!("{title}:\n")
        };
        out.push_str(&heading);
        for verb in verbs {
            let known = program.find_subcommand(verb);
            let about = known.and_then(Command::get_about).map(ToString::to_string);
            out.push_str(&entry(verb, &about.unwrap_or_default(), columns));
        }
        out.push('\n');
    }
    out
}

/// A verb with what it does, in as many lines as that takes.
fn entry(verb: &str, about: &str, columns: usize) -> String {
    const VERB_COLUMNS: usize = 13;
    let mut lines = vec![format!("  {verb:<VERB_COLUMNS$}")];
    let mut is_first = true;
    for word in about.split_whitespace() {
        let last = lines.last_mut().map_or(0, |line| line.width());
        if !is_first && last + 1 + word.width() > columns {
            lines.push(" ".repeat(2 + VERB_COLUMNS));
            is_first = true;
        }
        if let Some(line) = lines.last_mut() {
            if !is_first {
                line.push(' ');
            }
            line.push_str(word);
        }
        is_first = false;
    }
    lines.join("\n") + "\n"
}

fn example_lines(examples: &[(&str, &str)]) -> String {
    let widest = examples.iter().map(|(line, _)| line.width()).max();
    let widest = widest.unwrap_or_default();
    let one = |(line, about): &(&str, &str)| format!("\n  {line:<widest$}  # {about}");
    let lines: String = examples.iter().map(one).collect();
    format!("Examples:{lines}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    #[test]
    fn every_verb_is_in_one_group() {
        let program = Args::command();
        let shown = program.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut wanted: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        wanted.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, wanted);
    }

    /// An example that the program does not understand teaches nothing.
    #[test]
    fn every_example_is_understood() {
        for (verb, examples) in EXAMPLES {
            for (line, _) in *examples {
                // What is between quotes is one word.
                let quoted = line
                    .split('"')
                    .enumerate()
                    .flat_map(|(at, part)| match at % 2 {
                        0 => part.split_whitespace().collect(),
                        _ => vec![part],
                    });
                let read = Args::command().try_get_matches_from(quoted);
                let read = read.unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(read.subcommand_name(), Some(*verb), "{line}");
            }
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for columns in [40, 60, 80, 100] {
            let text = groups(&Args::command(), columns, false);
            let widest = text
                .lines()
                .map(unicode_width::UnicodeWidthStr::width)
                .max();
            assert!(widest <= Some(columns), "{columns}: {text}");
        }
    }
}
