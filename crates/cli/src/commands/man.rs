//! `loopwright man`: manual pages, made from the same descriptions as the help, so that they never
//! say something else. Packages install them; whoever has only the program can still make them.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

/// One finished page.
struct Page {
    /// As `man` looks for it: `loopwright-prd-check.1`.
    file: String,
    text: Vec<u8>,
}

pub(crate) fn run(
    program: Command,
    verbs: &[String],
    folder: Option<&Path>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("man");
    let program = built(program);
    match folder {
        Some(folder) => write_all(&program, folder, output),
        None => print(&program, verbs, output),
    }
}

/// Gives every command its whole name, `loopwright-prd-check`, and removes the verb `help`, which
/// the pages replace.
fn built(program: Command) -> Command {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    program
}

fn print(program: &Command, verbs: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let mut command = program;
    for verb in verbs {
        let found = command.find_subcommand(verb);
        command = found.filter(|found| !found.is_hide_set()).ok_or_else(|| {
            Failure::bad_input(format!("there is no command `{}`", verbs.join(" ")))
                .hint("`loopwright --help` lists all of them")
        })?;
    }
    let page = page(command)?;
    let text = String::from_utf8_lossy(&page.text).into_owned();
    output.data(&text)?;
    output.result(|| json!({ "file": page.file, "page": text }))?;
    Ok(Exit::Done)
}

fn write_all(program: &Command, folder: &Path, output: &mut Output) -> Result<Exit, Failure> {
    let fault = |path: &Path, error: &std::io::Error| {
        Failure::environment(&format!("cannot write `{}`", path.display()), error)
    };
    std::fs::create_dir_all(folder).map_err(|error| fault(folder, &error))?;
    let mut pages = Vec::new();
    collect(program, &mut pages)?;
    for page in &pages {
        let path = folder.join(&page.file);
        std::fs::write(&path, &page.text).map_err(|error| fault(&path, &error))?;
    }
    output.data(&format!("{} pages in {}\n", pages.len(), folder.display()))?;
    let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
    output.result(|| json!({ "folder": folder, "files": files }))?;
    output.next(NextAction::new("man loopwright", "read the first one"));
    Ok(Exit::Done)
}

/// The page of a command, then those of its verbs.
fn collect(command: &Command, pages: &mut Vec<Page>) -> Result<(), Failure> {
    pages.push(page(command)?);
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    for verb in shown {
        collect(verb, pages)?;
    }
    Ok(())
}

/// Without a date: the same program gives the same bytes.
fn page(command: &Command) -> Result<Page, Failure> {
    let man = Man::new(command.clone())
        .manual("Loopwright manual")
        .source(concat!("loopwright ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render(&mut text)
        .map_err(|error| Failure::environment("cannot make a manual page", &error))?;
    Ok(Page {
        file: man.get_filename(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    fn pages() -> Vec<Page> {
        let mut pages = Vec::new();
        collect(&built(crate::help::dressed(Args::command())), &mut pages).expect("pages");
        pages
    }

    #[test]
    fn every_command_that_people_see_has_a_page_of_its_own() {
        let names: Vec<String> = pages().into_iter().map(|page| page.file).collect();
        for name in ["", "-start", "-prd", "-prd-check", "-worker-status", "-man"] {
            let name = format!("loopwright{name}.1");
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        let hidden = [
            "loopwright-loop.1",
            "loopwright-complete.1",
            "loopwright-help.1",
        ];
        assert!(!names.iter().any(|name| hidden.contains(&name.as_str())));
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
    }

    #[test]
    fn a_page_says_what_the_help_says() {
        let pages = pages();
        let start = pages.iter().find(|page| page.file == "loopwright-start.1");
        let text = String::from_utf8_lossy(&start.expect("a page").text).into_owned();
        for part in [
            "Start a loop; it continues without this terminal",
            "\\-\\-foreground",
            "Examples:",
            "loopwright 0.",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
