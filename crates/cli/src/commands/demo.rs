//! `loopwright demo`: what works, shown on a PRD made for the purpose.
//!
//! It runs the real commands on real files in a new folder, and needs no key, no model and no network.

use std::fs;
use std::path::Path;

use crate::args::{MarkState, OrderFormat, PrdCommand, PrdSource};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

const MESSY: &str = include_str!("../../demo/messy.json");
const MENDED: &str = include_str!("../../demo/prd.json");

pub(crate) fn run(keep: Option<&Path>, output: &mut Output) -> Result<Exit, Failure> {
    let (folder, scratch) = match keep {
        Some(folder) => (folder.to_owned(), None),
        None => {
            let scratch =
                tempfile::tempdir().map_err(|error| Failure::environment("cannot make a folder", &error))?;
            (scratch.path().to_owned(), Some(scratch))
        }
    };
    if keep.is_some() {
        fs::create_dir(&folder).map_err(|error| {
            Failure::environment(&format!("cannot make the folder `{}`", folder.display()), &error)
                .hint("name a folder that does not exist yet")
        })?;
    }
    // The commands name their files as a person in that folder would.
    std::env::set_current_dir(&folder)
        .map_err(|error| Failure::environment("cannot go to the folder", &error))?;
    let steps = play(output)?;
    output.command("demo");
    output.result(|| serde_json::json!({ "folder": keep.map(Path::to_owned), "steps": steps }))?;
    output.next(NextAction::new("loopwright prd check YOUR_PRD", "check a PRD of your own"));
    output.talk("\nThat is the PRD half. Try it on one of yours: loopwright prd check FILE\n");
    drop(scratch);
    Ok(Exit::Done)
}

fn put(name: &str, text: &str) -> Result<(), Failure> {
    fs::write(name, text).map_err(|error| Failure::environment(&format!("cannot write `{name}`"), &error))
}

fn play(output: &mut Output) -> Result<Vec<String>, Failure> {
    put("messy.json", MESSY)?;
    put("prd.json", MENDED)?;
    let source = |file: &str| PrdSource { file: file.into(), tools: Vec::new() };
    let steps = [
        (
            "A PRD as a model wrote it, with slips and faults. `prd check` repairs what it can and names the rest:",
            "prd check messy.json",
            PrdCommand::Check { source: source("messy.json"), all: false, strict: false },
        ),
        (
            "The same PRD, mended. In which order would its stories run?",
            "prd order prd.json",
            PrdCommand::Order { source: source("prd.json"), format: OrderFormat::Text },
        ),
        (
            "A story passed. Its state is written back, and no other byte changes:",
            "prd mark prd.json 2",
            PrdCommand::Mark {
                source: source("prd.json"),
                story: "2".to_owned(),
                state: MarkState::Passed,
                dry_run: false,
            },
        ),
        (
            "So the order is shorter now:",
            "prd order prd.json",
            PrdCommand::Order { source: source("prd.json"), format: OrderFormat::Text },
        ),
    ];
    let mut played = Vec::new();
    for (words, shown, command) in steps {
        output.talk(&format!("\n== {words}\n$ loopwright {shown}\n"));
        super::prd::run(command, output)?;
        output.forget_bad_news();
        played.push(shown.to_owned());
    }
    Ok(played)
}
