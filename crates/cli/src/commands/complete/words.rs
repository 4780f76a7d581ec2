//! `loopwright complete -- WORDS`: what the last word may become, one candidate per line, each with a
//! tab and what it is. Nothing is printed where a file belongs, and nothing is ever an error: somebody
//! is typing.

use clap::{Arg, Command};

use crate::commands::loops::completion;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Something that may be typed, and what it is.
pub(crate) type Candidate = (String, String);

pub(crate) fn run(
    words: &[String],
    program: &Command,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("complete");
    let found = candidates(program, words);
    let line = |(word, about): &Candidate| format!("{word}\t{about}\n");
    output.data(&found.iter().map(line).collect::<String>())?;
    let one = |(word, about): &Candidate| serde_json::json!({ "word": word, "about": about });
    output.result(
        || serde_json::json!({ "candidates": found.iter().map(one).collect::<Vec<_>>() }),
    )?;
    Ok(Exit::Done)
}

fn candidates(program: &Command, words: &[String]) -> Vec<Candidate> {
    // Bash takes `--color=never` apart.
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "=")
        .collect();
    let (current, before) = words.split_last().unwrap_or((&"", &[]));
    let line = Line::read(program, before);
    let all = match line.pending {
        Some(arg) => values(arg, &line),
        None if current.starts_with('-') => flags(program, line.verb),
        None => {
            let mut all = verbs(line.verb);
            all.extend(line.next_positionals().flat_map(|arg| values(arg, &line)));
            all
        }
    };
    let typed = current.to_lowercase();
    let mut fitting: Vec<Candidate> = Vec::new();
    for (word, about) in all {
        let is_new = fitting.iter().all(|(known, _)| *known != word);
        if is_new && word.to_lowercase().starts_with(&typed) {
            fitting.push((word, about));
        }
    }
    fitting
}

/// What was typed before the word that is completed.
struct Line<'l> {
    verb: &'l Command,
    positionals: Vec<&'l str>,
    /// The flag whose value comes next.
    pending: Option<&'l Arg>,
}

impl<'l> Line<'l> {
    fn read(program: &'l Command, words: &[&'l str]) -> Self {
        let mut line = Self {
            verb: program,
            positionals: Vec::new(),
            pending: None,
        };
        for word in words {
            if line.pending.take().is_some() {
                continue;
            }
            if word.starts_with('-') {
                line.pending = flag_named(program, line.verb, word)
                    .filter(|arg| arg.get_action().takes_values());
            } else if let Some(verb) = line.verb.find_subcommand(word) {
                line.verb = verb;
            } else {
                line.positionals.push(word);
            }
        }
        line
    }

    /// The positional that comes next, and those that may come in its place because it may be left
    /// out.
    fn next_positionals(&self) -> impl Iterator<Item = &'l Arg> {
        let mut may_be_left_out = true;
        let next = self.verb.get_positionals().skip(self.positionals.len());
        next.take_while(move |arg| {
            let is_next = may_be_left_out;
            may_be_left_out = arg.get_id() == "id" && !arg.is_required_set();
            is_next
        })
    }
}

fn flag_named<'l>(program: &'l Command, verb: &'l Command, word: &str) -> Option<&'l Arg> {
    let name = word.trim_start_matches('-');
    let is_meant = |arg: &&Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg
            .get_short()
            .is_some_and(|short| name == short.to_string()),
    };
    let of_verb = verb.get_arguments().find(is_meant);
    of_verb.or_else(|| program.get_arguments().find(is_meant))
}

fn verbs(here: &Command) -> Vec<Candidate> {
    let shown = here.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown
        .map(|verb| (verb.get_name().to_owned(), about(verb.get_about())))
        .collect()
}

fn flags(program: &Command, verb: &Command) -> Vec<Candidate> {
    let everywhere = program.get_arguments().filter(|arg| arg.is_global_set());
    let all = verb.get_arguments().chain(everywhere);
    let shown = all.filter(|arg| !arg.is_hide_set());
    let mut found: Vec<Candidate> = shown
        .filter_map(|arg| Some((format!("--{}", arg.get_long()?), about(arg.get_help()))))
        .collect();
    found.push(("--help".to_owned(), "Print help".to_owned()));
    found
}

/// What an argument may be. Of a file nothing is said: the shell knows files.
fn values(arg: &Arg, line: &Line<'_>) -> Vec<Candidate> {
    let words = arg.get_possible_values();
    if arg.get_action().takes_values() && !words.is_empty() {
        let shown = words.iter().filter(|word| !word.is_hide_set());
        return shown
            .map(|word| (word.get_name().to_owned(), about(word.get_help())))
            .collect();
    }
    let first = line.positionals.first().copied();
    let found = match arg.get_id().as_str() {
        "id" => completion::loops(),
        "what" => completion::loops().map(|mut loops| {
            loops.push(("dead".to_owned(), "all loops that are over".to_owned()));
            loops
        }),
        "story" => completion::stories(first),
        "choice" => completion::choices(first),
        "run_id" => completion::runs(),
        "topic" => return crate::commands::explain::codes(),
        "flow" => return plain(crate::config::FLOWS),
        "role" => return plain(&["implementor", "reviewer", "prover", "judge", "check"]),
        _ => return Vec::new(),
    };
    found.unwrap_or_default()
}

fn plain(words: &[&str]) -> Vec<Candidate> {
    let one = |word: &&str| ((*word).to_owned(), String::new());
    words.iter().map(one).collect()
}

/// The first line of a help text.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    #[test]
    fn a_line_may_go_on_with() {
        let mut program = Args::command();
        program.build();
        for (line, expected) in [
            ("stat", "status"),
            ("prd c", "check"),
            ("service ", "install status uninstall help"),
            ("nuke --f", "--force"),
            ("status --js", "--json"),
            ("--color a", "auto always"),
            ("--color never ver", ""),
            ("list --color = n", "never"),
            ("schema e", "envelope events"),
            ("start --flow t", "tdd"),
            (
                "explain prd00",
                "PRD001 PRD002 PRD003 PRD004 PRD005 PRD006 PRD007 PRD008 PRD009",
            ),
            ("logs --role j", "judge"),
            ("prd check ", ""),
            ("kee", ""),
            ("loop pau", "pause"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = candidates(&program, &words);
            let found: Vec<String> = found.into_iter().map(|(word, _)| word).collect();
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }
}
